// Times as people read them. All clocks are UTC, as in the record.
import { html, signal } from '../html.js';
import { ago, clock, day, duration } from '../reading.js';

const now = signal(Date.now());
setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1000);

/** "12 s ago"; told anew every second. @param {{at: string | number | null | undefined, never?: any}} props */
export function Ago({ at, never = 'never' }) {
  if (at === null || at === undefined || at === '') return html`<span>${never}</span>`;
  const time = new Date(at);
  return html`<time datetime=${isoOf(time)} title=${isoOf(time)}>${ago(time.getTime(), now.value)}</time>`;
}

/** "14:31:58", with the day where it is not today. @param {{at: string | number | null | undefined, date?: boolean}} props */
export function Clock({ at, date }) {
  if (at === null || at === undefined || at === '') return html`<span>–</span>`;
  const time = new Date(at);
  const other = date || day(time) !== day(new Date(now.peek()));
  return html`<time datetime=${isoOf(time)} title=${isoOf(time)}>${other ? `${day(time)} ` : ''}${clock(time)}</time>`;
}

/** @param {{ms: number | null | undefined}} props */
export const Duration = ({ ms }) => html`<span class="num">${duration(ms)}</span>`;

/** @param {Date} time */
const isoOf = (time) => (Number.isNaN(time.getTime()) ? undefined : time.toISOString());
