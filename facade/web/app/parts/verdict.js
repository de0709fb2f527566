// The answer to one question, large.
import { html } from '../html.js';
import { Icon } from './icon.js';

/** @param {{state: 'ok' | 'warn' | 'bad' | 'idle', title: any, children?: any, actions?: any}} props */
export const Verdict = ({ state, title, children, actions }) => html`
  <div class=${state === 'bad' ? 'verdict broken' : `verdict ${state}`} role="status">
    <span class="seal-i"><${Icon} name=${state === 'bad' ? 'refused' : state === 'ok' ? 'seal' : 'clock'} /></span>
    <h2>${title}</h2><p>${children}</p>
    ${actions && html`<div class="actions">${actions}</div>`}
  </div>`;
