// A part of a whole, drawn.
import { html } from '../html.js';

/** @param {{part: number, of: number, state?: 'ok' | 'warn' | 'bad', label?: string}} props label: for those who hear it; without one it is decoration */
export function Bar({ part, of, state, label }) {
  const width = of > 0 ? Math.max(0, Math.min(100, (part / of) * 100)) : 0;
  return html`
    <svg class=${state ? `bar ${state}` : 'bar'} viewBox="0 0 100 4" preserveAspectRatio="none" role=${label ? 'img' : undefined} aria-label=${label} aria-hidden=${label ? undefined : 'true'}>
      <rect x="0" y="0" width=${width} height="4" />
    </svg>`;
}

/** A small line of figures without axes. @param {{values: (number | null)[]}} props */
export function Spark({ values }) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return html`<svg class="spark" viewBox="0 0 120 24" aria-hidden="true"></svg>`;
  const most = Math.max(...known, 1);
  const at = (/** @type {number} */ value, /** @type {number} */ index) => `${((index / (values.length - 1)) * 120).toFixed(1)} ${(23 - (value / most) * 21).toFixed(1)}`;
  const line = values.map((value, index) => (value === null ? '' : `${index === 0 || values[index - 1] === null ? 'M' : 'L'}${at(value, index)}`)).join('');
  return html`
    <svg class="spark" viewBox="0 0 120 24" preserveAspectRatio="none" aria-hidden="true">
      ${!values.includes(null) && html`<path class="f1" d=${`${line}L120 24L0 24Z`} />`}<path class="l1" d=${line} />
    </svg>`;
}
