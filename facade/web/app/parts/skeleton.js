// The room that an answer will take. Appears only after a moment, so that a quick answer shows nothing else.
import { html } from '../html.js';

const WIDTHS = ['w3', 'w2', 'w3', 'w1'];

/** @param {{lines?: number, rows?: number, tiles?: number, block?: boolean, label?: string}} props */
export function Skeleton({ lines, rows, tiles, block, label = 'Loading' }) {
  if (tiles) {
    return html`<section class="tiles" aria-busy="true" aria-label=${label}>${some(tiles, (at) => html`
      <div class="tile" key=${at}><span class="sk w2"></span><span class="sk h w1"></span><span class="sk w3"></span></div>`)}</section>`;
  }
  if (block) return html`<div role="group" aria-busy="true" aria-label=${label}><span class="sk block"></span></div>`;
  const each = rows ? 'sk row-high' : 'sk line';
  return html`<div class=${rows ? 'sk-rows' : 'stack tight'} role="group" aria-busy="true" aria-label=${label}>${some(rows ?? lines ?? 3, (at) => html`
    <span key=${at} class=${`${each} ${WIDTHS[at % WIDTHS.length]}`}></span>`)}</div>`;
}

/** @param {number} count @param {(at: number) => any} draw */
const some = (count, draw) => Array.from({ length: count }, (_, at) => draw(at));
