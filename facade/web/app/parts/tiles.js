// Figures side by side.
import { html } from '../html.js';
import { Link } from '../router.js';

/** @param {{label?: string, four?: boolean, busy?: boolean, children?: any}} props */
export const Tiles = ({ label, four, busy, children }) => html`
  <section class=${four ? 'tiles four' : 'tiles'} aria-label=${label} aria-busy=${busy || undefined}>${children}</section>`;

/**
 * @param {{label: string, value: any, unit?: any, note?: any, state?: 'ok' | 'warn' | 'bad', href?: string, children?: any}} props
 *   children: a small picture between figure and note
 */
export function Tile({ label, value, unit, note, state, href, children }) {
  const inside = html`
    <span class="k">${label}</span>
    <span class="v"><output>${value}</output>${unit && html`<small>${unit}</small>`}</span>
    ${children}
    ${note && html`<span class="d"><span class=${state}>${note}</span></span>`}`;
  return href ? html`<${Link} class="tile" href=${href}>${inside}<//>` : html`<div class="tile">${inside}</div>`;
}
