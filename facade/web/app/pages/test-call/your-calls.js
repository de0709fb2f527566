// The calls made from this browser. Choosing one fills the form; nothing is called by it.
import { html } from '../../html.js';
import { parseExact } from '../../exact.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Table } from '../../parts/table.js';
import { Clock } from '../../parts/time.js';
import { Link } from '../../router.js';
import { calls, clear } from './history.js';
import { hrefOf } from './link.js';
import { wordOf } from './refusals.js';
import { took } from './views/figures.js';

/** @typedef {import('./history.js').Kept} Kept */

const COLUMNS = [
  { key: 'when', label: 'Time, UTC', className: 'nowrap dim', render: (/** @type {Kept} */ kept) => html`<${Clock} at=${kept.when} />` },
  {
    key: 'tool', label: 'Tool',
    render: (/** @type {Kept} */ kept) => html`<${Link} class="rowlink break" href=${hrefFor(kept)}><code>${kept.tool}</code><//>
      ${kept.args && kept.args !== '{}' && html`<span class="sub args"><code>${kept.args}</code></span>`}`,
  },
  { key: 'target', label: 'Target', className: 'md dim', render: (/** @type {Kept} */ kept) => kept.target?.name ?? '–' },
  { key: 'how', label: 'How', render: (/** @type {Kept} */ kept) => html`<${How} kept=${kept} />` },
  { key: 'ms', label: 'Took', className: 'r sm', render: (/** @type {Kept} */ kept) => html`<code class="dim">${took(kept.ms)}</code>` },
];

/** @param {{onOpen: (kept: Kept) => void}} props */
export function YourCalls({ onOpen }) {
  if (!calls.value.length) return null;
  return html`<${Card} flush title="Your calls" note="kept in this browser only, without results"
    actions=${html`<${Button} kind="quiet" small onClick=${clear}>Clear<//>`}>
    <${Table} label="Your calls" columns=${COLUMNS} rows=${calls.value} rowKey=${(/** @type {Kept} */ kept) => `${kept.when}-${kept.id}`} onOpen=${onOpen} />
  <//>`;
}

/** @param {{kept: Kept}} props */
function How({ kept }) {
  if (kept.how === 'cached') return html`<${Badge} icon="clock">cached<//>`;
  if (kept.how === 'live') return html`<${Badge} state="live">live<//>`;
  if (kept.how === 'failed') return html`<${Badge} state="bad">${wordOf(kept.reason)}<//><span class="sub why-word">${kept.reason}</span>`;
  return html`<${Badge} state=${kept.how === 'said no' ? 'warn' : kept.how === 'ok' ? 'ok' : 'idle'}>${kept.how}<//>`;
}

/** @param {Kept} kept */
function hrefFor(kept) {
  return hrefOf(kept.tool, kept.args ? parseExact(kept.args) : {}, kept.target?.id);
}
