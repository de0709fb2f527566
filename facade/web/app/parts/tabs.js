// Parts of a page, each with an address of its own.
import { html } from '../html.js';
import { Link } from '../router.js';

/** @param {{tabs: {id: string, label: any, count?: number, href: string}[], current: string, label?: string}} props */
export const Tabs = ({ tabs, current, label = 'Parts of this page' }) => html`
  <nav class="tabs" aria-label=${label}>
    ${tabs.map((tab) => html`
      <${Link} key=${tab.id} href=${tab.href} aria-current=${tab.id === current ? 'page' : undefined}>${tab.label}${tab.count !== undefined && html`<span class="n">${tab.count}</span>`}<//>`)}
  </nav>`;
