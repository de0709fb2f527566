// What was turned away: by reason over the span, and the newest of them from the record.

import { html } from '../../html.js';
import { Link } from '../../router.js';
import { may } from '../../session.js';
import { useGet } from '../../use.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Icon } from '../../parts/icon.js';
import { Refusal } from '../../parts/note.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Clock } from '../../parts/time.js';
import { figure } from '../../reading.js';
import { clockOf, isMinute, often, times } from '../audit/events.js';

const MOST = 5;

/** @param {{overview: import('./figures.js').Overview|undefined, span: string}} props */
export function Refusals({ overview, span }) {
  const newest = useGet('/api/audit/events', { query: { result: 'refused', pageSize: MOST }, every: 5000 });
  const rows = newest.data?.events;
  const actions = html`<${Button} kind="quiet" small href="/audit?result=refused">In audit<//>`;
  return html`<${Card} title="Rejections" note=${may('read-record') ? span : `${span}; below, your own`} actions=${actions}>
    ${(overview?.refusals.length ?? 0) > 0 && html`<ul class="row tight" aria-label=${`By reason, ${span}`}>${overview?.refusals.map((r) => html`
      <li key=${r.reason}><${Badge} state=${r.reason === 'WRITE_REJECTED' ? 'bad' : 'idle'}>${r.reason} × ${figure(r.count)}<//></li>`)}</ul>`}
    ${!rows && (newest.error ? html`<${Refusal} problem=${newest.error} onRetry=${newest.reload} />` : html`<${Skeleton} lines=${6} />`)}
    ${rows?.length === 0 && html`<p class="faint small">${may('read-record') ? 'Nothing' : 'Nothing of yours'} was turned away. A write attempt, an unknown tool, or a caller over its limit would stand here.</p>`}
    <ul class="why">${rows?.map((/** @type {any} */ row) => html`<${Refused} key=${row.seq} row=${row} />`)}</ul><//>`;
}

function Refused(/** @type {{row: import('../audit/events.js').AuditEvent}} */ { row }) {
  const write = row.event === 'adapter.write_rejected';
  return html`<li><span class=${write ? 'bad' : 'warn'}><${Icon} name=${write ? 'refused' : 'clock'} /></span><div>
    <div class="row tight"><${Link} class="rowlink" href=${`/audit/${row.seq}`}><b class="strong small">${row.reason || row.event}</b><//>
      ${isMinute(row) && times(row) > 1 && html`<${Badge}>${often(times(row))}<//>`}<span class="push small faint">${isMinute(row) ? html`<time datetime=${row.time}>${clockOf(row.time).at.slice(0, 5)}</time>` : html`<${Clock} at=${row.time} />`}</span></div>
    ${row.capability && html`<code class="small dim break">${row.capability}</code>`}<small>${row.principal || 'nobody known'}</small></div></li>`;
}
