// Six figures: what is asked, how fast, what was refused, what is left, how sealed, how connected.

import { html } from '../../html.js';
import { useNow } from '../../use.js';
import { Bar, Spark } from '../../parts/bars.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Tile, Tiles } from '../../parts/tiles.js';
import { Ago } from '../../parts/time.js';
import { figure } from '../../reading.js';
import { recordNow, sealing } from '../../sealed.js';
import { perMinute, rates, refusedWords, slowest, sum, TEST } from './figures.js';

/** @typedef {import('./figures.js').Overview} Overview */

/** @param {{overview: Overview|undefined, span: string, failed: boolean}} props span: what the figures are of, in words */
export function Figures({ overview, span, failed }) {
  if (!overview) return failed ? html`<${Away} />` : html`<${Skeleton} tiles=${6} />`;
  return html`<${Tiles} label="Now">
    <${Calls} o=${overview} /><${Latency} o=${overview} span=${span} /><${Refused} o=${overview} span=${span} />
    <${Headroom} limits=${overview.limits} /><${Sealed} record=${recordNow() ?? overview.record} /><${Uplinks} uplinks=${overview.uplinks} />
  <//>`;
}

const Away = () => html`<${Tiles} label="Now">
  ${['Calls per minute', 'Slowest tool, p95', 'Refused', 'Rate limit headroom', 'Audit checkpoint', 'Uplinks'].map((label) => html`
    <${Tile} key=${label} label=${label} value="–" note="not known now" />`)}<//>`;

function Calls(/** @type {{o: Overview}} */ { o }) {
  const now = useNow(2000);
  return html`<${Tile} label="Calls per minute" value=${figure(perMinute(o, now))} href="/audit?event=adapter.capability_invoked">
    <${Spark} values=${rates(o, o.calls)} /><//>`;
}

function Latency(/** @type {{o: Overview, span: string}} */ { o, span }) {
  const worst = slowest(o).find((tool) => tool.name !== TEST);
  if (!worst) return html`<${Tile} label="Slowest tool, p95" value="–" note=${`no call in ${span}`} href="/tools" />`;
  return html`<${Tile} label="Slowest tool, p95" value=${figure(worst.p95)} unit="ms" note=${html`<${Name} of=${worst.name} />`} href=${`/tools/${worst.name}`} />`;
}

function Refused(/** @type {{o: Overview, span: string}} */ { o, span }) {
  const all = sum(o.refused);
  const parts = refusedWords(o.refusals);
  const note = all === 0 ? 'nothing was turned away' : parts.map((part, at) => html`${at > 0 && ', '}<span class=${part.write ? 'bad' : undefined}>${part.words}</span>`);
  return html`<${Tile} label=${`Refused, ${span}`} value=${figure(all)} note=${note} href="/audit?result=refused" />`;
}

function Headroom(/** @type {{limits: Overview['limits']}} */ { limits }) {
  if (!limits) return html`<${Tile} label="Rate limit headroom" value="–" note="not known now" />`;
  const { tenantLeft: left, tenantPerMinute: of, userLeft, userPerMinute } = limits;
  const state = left === 0 ? 'bad' : left < of / 10 ? 'warn' : undefined;
  return html`<${Tile} label="Rate limit headroom" value=${figure(left)} unit=${`of ${figure(of)}`}
      note=${`yours ${figure(userLeft)} of ${figure(userPerMinute)} / min`} state=${userLeft === 0 ? 'bad' : undefined}>
    <${Bar} part=${of - left} of=${of} state=${state} label=${`${figure(of - left)} of ${figure(of)} used`} /><//>`;
}

function Sealed(/** @type {{record: import('../../sealed.js').RecordTold|undefined}} */ { record }) {
  const now = useNow(1000);
  if (!record) return html`<${Tile} label="Audit checkpoint" value="–" note="not known now" href="/audit" />`;
  const { seq, since, late } = sealing(record, now);
  const told = html`<span class="num">seq ${figure(seq)}</span>${since > 0 && html` · <span class="num">${figure(since)}</span> since`}`;
  return html`<${Tile} label="Audit checkpoint" value=${html`<${Ago} at=${record.checkpointAt} />`} href="/audit"
    note=${late ? html`<span class="warn">late</span> · ${told}` : html`<span class="ok">sealed</span> · ${told}`} />`;
}

function Uplinks(/** @type {{uplinks: Overview['uplinks']}} */ { uplinks }) {
  if (!uplinks) return html`<${Tile} label="Uplinks" value="–" note="not known now" href="/fleet" />`;
  const away = uplinks.total - uplinks.connected;
  return html`<${Tile} label="Uplinks" value=${figure(uplinks.connected)} unit=${`of ${figure(uplinks.total)} live`} href="/fleet"
    note=${uplinks.total === 0 ? 'no host or project yet' : away > 0 ? `${figure(away)} not connected` : 'all connected'} state=${away > 0 ? 'warn' : undefined} />`;
}

/** A tool's name, which may break behind its dots and underscores. */
const Name = (/** @type {{of: string}} */ { of }) => html`<span class="break">${of.split(/(?<=[._])/).map((part) => html`${part}<wbr />`)}</span>`;
