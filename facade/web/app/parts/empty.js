// Nothing here yet: one sentence on what would be here, and what fills it.
import { html } from '../html.js';
import { Icon } from './icon.js';

/** @param {{icon?: string, title: any, text?: any, children?: any}} props children: the action */
export const Empty = ({ icon = 'filter', title, text, children }) => html`
  <div class="empty"><${Icon} name=${icon} /><h3>${title}</h3>${text && html`<p>${text}</p>`}${children && html`<div class="row">${children}</div>`}</div>`;
