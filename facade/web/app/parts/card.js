// A titled surface.
import { html, useId } from '../html.js';

/** @param {{title?: any, note?: any, actions?: any, foot?: any, flush?: boolean, busy?: boolean, children?: any}} props flush: no padding, for tables and logs */
export function Card({ title, note, actions, foot, flush, busy, children }) {
  const id = useId();
  return html`
    <section class="card" aria-labelledby=${title ? id : undefined} aria-busy=${busy || undefined}>
      ${(title || actions) && html`
        <div class="card-head">
          ${title && html`<h2 id=${id}>${title}</h2>`}
          ${note && html`<p>${note}</p>`}
          ${actions && html`<div class="row push">${actions}</div>`}
        </div>`}
      ${flush ? children : html`<div class="card-body stack">${children}</div>`}
      ${foot && html`<div class="card-foot">${foot}</div>`}
    </section>`;
}
