// A JSON value, coloured and numbered. Long ones are cut, and say so.
import { html, useMemo } from '../html.js';

const MOST_LINES = 5000;

/** @param {{value: any, label?: string}} props */
export function JsonView({ value, label = 'JSON' }) {
  const lines = useMemo(() => (JSON.stringify(value, null, 2) ?? 'undefined').split('\n'), [value]);
  const shown = lines.slice(0, MOST_LINES);
  return html`
    <div class="code bare">
      <pre class="json" tabindex="0" aria-label=${label}>${shown.map((line) => html`<span class="l">${coloured(line)}${'\n'}</span>`)}</pre>
      ${lines.length > MOST_LINES && html`<p class="help pad">The first ${MOST_LINES} of ${lines.length} lines; copy has all of them.</p>`}
    </div>`;
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b|([{}[\],])/g;

/** @param {string} line */
function coloured(line) {
  const parts = [];
  let end = 0;
  for (const found of line.matchAll(TOKEN)) {
    if (found.index > end) parts.push(line.slice(end, found.index));
    const [all, text, colon, number, word] = found;
    const kind = text ? (colon ? 'tok-k' : 'tok-s') : number ? 'tok-n' : word ? 'tok-b' : 'tok-p';
    parts.push(html`<span class=${kind}>${all}</span>`);
    end = found.index + all.length;
  }
  parts.push(line.slice(end));
  return parts;
}
