// Is it up: the answer that the page opens with.

import { html } from '../../html.js';
import { useGet } from '../../use.js';
import { Dot } from '../../parts/badge.js';
import { Note } from '../../parts/note.js';
import { span } from '../../reading.js';
import { Link } from '../../router.js';
import { may } from '../../session.js';
import { titleOf } from '../audit/verify.js';

/** @param {{overview: import('./figures.js').Overview|undefined, health: {state: string}[]|undefined}} props */
export function Status({ overview, health }) {
  const ready = useGet('/readyz', { every: 5000 });
  const faults = checksOf(ready.data ?? ready.error?.body).filter((check) => !check.ok);
  if (ready.error && ready.error.status === 0) {
    return html`<${Note} state="bad" title="The gateway does not answer."><span>What stands below is what was known last; this page goes on by itself.</span><//>`;
  }
  if (faults.length) {
    return html`<${Note} state="bad" title="Calls are not carried out now.">${faults.map((check) => html`<span key=${check.name}>${check.name}: ${check.detail || 'not ready'}. </span>`)}<//>`;
  }
  const sick = (health ?? []).filter((each) => each.state === 'bad' || each.state === 'warn').length;
  const well = (health ?? []).filter((each) => each.state === 'ok').length;
  const since = overview?.since ? Math.round((Date.now() - Date.parse(overview.since)) / 1000) : null;
  return html`<${Broken} /><p class="up" role="status"><${Dot} state=${!ready.data ? 'idle' : sick ? 'warn' : 'ok'} />
    <span><b>${ready.data ? 'Toolgate is up' : 'Asking the gateway'}</b>${since !== null && since > 0 && html` <span class="dim">for ${span(since)}</span>`}${
      health && html`<span class="dim">, ${well} of ${health.length} ${health.length === 1 ? 'target' : 'targets'} ready${sick ? html`, <span class="warn">${sick} to look at</span>` : ''}</span>`}${
      ready.data?.version && html`<span class="faint">, version ${ready.data.version}</span>`}</span></p>`;
}

/** The last verification found a fault: that comes before everything else. */
function Broken() {
  const last = useGet(may('read-record') ? '/api/audit/events' : null, { query: { event: 'audit.verified', pageSize: 1 }, every: 30_000 });
  const found = last.data?.events[0]?.detail;
  if (!found?.verdict || found.verdict === 'intact') return null;
  return html`<${Note} state="bad" title="The record is broken."><span>${titleOf(found)}. <${Link} href="/audit">Look at the record<//> and export the evidence.</span><//>`;
}

/** @returns {{name: string, ok: boolean, detail?: string}[]} */
const checksOf = (/** @type {any} */ told) => (Array.isArray(told?.checks) ? told.checks : []);
