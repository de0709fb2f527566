// Six figures: what is asked, how fast, what was refused, what is left, how sealed, how connected.

import { html } from '../../html.js';
import { useNow } from '../../use.js';
import { Bar, Spark } from '../../parts/bars.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Tile, Tiles } from '../../parts/tiles.js';
import { Ago } from '../../parts/time.js';
import { figure } from '../../reading.js';
import { perMinute, rates, slowest, sum } from './figures.js';

/** @typedef {import('./figures.js').Overview} Overview */

/** After this long without a checkpoint something is wrong: twice the usual interval and half a minute. */
const STALE_MS = 150_000;

/** @param {{overview: Overview|undefined, span: string, failed: boolean}} props span: what the figures are of, in words */
export function Figures({ overview, span, failed }) {
  if (!overview) return failed ? html`<${Away} />` : html`<${Skeleton} tiles=${6} />`;
  return html`<${Tiles} label="Now">
    <${Calls} o=${overview} /><${Latency} o=${overview} span=${span} /><${Refused} o=${overview} span=${span} />
    <${Headroom} limits=${overview.limits} /><${Sealed} record=${overview.record} /><${Uplinks} uplinks=${overview.uplinks} />
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
  const worst = slowest(o)[0];
  if (!worst) return html`<${Tile} label="Slowest tool, p95" value="–" note=${`no call in ${span}`} href="/tools" />`;
  return html`<${Tile} label="Slowest tool, p95" value=${figure(worst.p95)} unit="ms" note=${html`<${Name} of=${worst.name} />`} href=${`/tools/${worst.name}`} />`;
}

function Refused(/** @type {{o: Overview, span: string}} */ { o, span }) {
  const all = sum(o.refused);
  const writes = count(o, 'WRITE_REJECTED');
  const limited = count(o, 'RATE_LIMITED');
  const other = sum(o.refusals.map((r) => r.count)) - writes - limited;
  const rest = [limited && `${figure(limited)} limited`, other > 0 && `${figure(other)} other`].filter(Boolean).join(', ');
  const note = all === 0 ? 'nothing was turned away' : html`${writes > 0 && html`<span class="bad">${figure(writes)} write ${writes === 1 ? 'attempt' : 'attempts'}</span>`}${writes > 0 && rest && html`<br />`}${rest}`;
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

function Sealed(/** @type {{record: Overview['record']}} */ { record }) {
  const now = useNow(1000);
  if (!record) return html`<${Tile} label="Audit checkpoint" value="–" note="not known now" href="/audit" />`;
  const stale = !record.checkpointAt || now - Date.parse(record.checkpointAt) > STALE_MS;
  const seq = html`<span class="num">seq ${figure(record.seq)}</span>`;
  const open = record.seq - (record.checkpointSeq ?? 0);
  return html`<${Tile} label="Audit checkpoint" value=${html`<${Ago} at=${record.checkpointAt} />`} href="/audit"
    note=${stale ? html`<span class="warn">overdue</span> · ${seq}` : html`<span class="ok">sealed</span> · ${seq}${open > 0 && html`<br />${figure(open)} since`}`} />`;
}

function Uplinks(/** @type {{uplinks: Overview['uplinks']}} */ { uplinks }) {
  if (!uplinks) return html`<${Tile} label="Uplinks" value="–" note="not known now" href="/fleet" />`;
  const away = uplinks.total - uplinks.connected;
  return html`<${Tile} label="Uplinks" value=${figure(uplinks.connected)} unit=${`of ${figure(uplinks.total)} live`} href="/fleet"
    note=${uplinks.total === 0 ? 'no host or project yet' : away > 0 ? `${figure(away)} not connected` : 'all connected'} state=${away > 0 ? 'warn' : undefined} />`;
}

const count = (/** @type {Overview} */ o, /** @type {string} */ reason) => o.refusals.find((r) => r.reason === reason)?.count ?? 0;

/** A tool's name, which may break behind its dots and underscores. */
const Name = (/** @type {{of: string}} */ { of }) => html`<span class="break">${of.split(/(?<=[._])/).map((part) => html`${part}<wbr />`)}</span>`;
