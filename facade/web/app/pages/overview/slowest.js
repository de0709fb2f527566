// The slowest tools of the span.

import { html } from '../../html.js';
import { Link } from '../../router.js';
import { Bar } from '../../parts/bars.js';
import { Card } from '../../parts/card.js';
import { Skeleton } from '../../parts/skeleton.js';
import { figure } from '../../reading.js';
import { called, slowest, TEST } from './figures.js';

const MOST = 6;

/** @param {{overview: import('./figures.js').Overview|undefined, span: string}} props */
export function Slowest({ overview, span }) {
  const note = `p95 of the slowest minute, ${span}`;
  if (!overview) return html`<${Card} title="Slowest tools" note=${note}><${Skeleton} lines=${5} /><//>`;
  const tools = slowest(overview).slice(0, MOST);
  const most = tools[0]?.p95 ?? 1;
  return html`<${Card} title="Slowest tools" note=${note}>
    ${tools.length === 0 && html`<p class="faint small">No call in this span.</p>`}
    <ol class="bars">${tools.map((tool) => html`<li key=${tool.name}>
      ${tool.name === TEST ? html`<span class="clip">${called(TEST)}</span>` : html`<${Link} class="clip" href=${`/tools/${tool.name}`}><code>${tool.name}</code><//>`}
      <span class="r">${figure(tool.p95)} ms <span class="faint">· ${figure(tool.calls)} ${tool.calls === 1 ? 'call' : 'calls'}</span></span>
      <${Bar} part=${tool.p95} of=${most} /></li>`)}</ol><//>`;
}
