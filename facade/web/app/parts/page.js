// The head of a page and what stands under it.
import { html } from '../html.js';
import { useTitle } from '../use.js';

/** @param {{title: string, lead?: any, actions?: any, crumb?: any, wide?: boolean, children?: any}} props */
export function Page({ title, lead, actions, crumb, wide, children }) {
  useTitle(title);
  return html`
    <div class=${wide ? 'page wide' : 'page'}>
      ${crumb && html`<nav class="crumb" aria-label="Where this page is">${crumb}</nav>`}
      <div class="page-head">
        <div><h1>${title}</h1>${lead && html`<p>${lead}</p>`}</div>
        ${actions && html`<div class="actions">${actions}</div>`}
      </div>
      ${children}
    </div>`;
}
