// Whether the record is whole: the last verification that stands on it, a running one, or its verdict.

import { html } from '../../html.js';
import { go } from '../../router.js';
import { Button } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import { Refusal } from '../../parts/note.js';
import { Ago } from '../../parts/time.js';
import { grouped } from './events.js';
import { ExportMenu } from './export.js';
import { titleOf, useVerify } from './verify.js';

/** @typedef {import('./verify.js').Found} Found */

/** The card that answers first. @param {{seq: number|undefined, last: any}} props seq: the newest place of the record; last: the newest verification that is on it */
export function RecordCard({ seq, last }) {
  const verify = useVerify();
  const rerun = () => verify.run(false);
  if (verify.running) return html`<${Running} verify=${verify} />`;
  if (verify.error) {
    return html`<div class="stack"><${Refusal} problem=${verify.error} onRetry=${rerun} /></div>`;
  }
  if (verify.found) return html`<${Verdict} found=${verify.found} tookMs=${verify.tookMs} at=${new Date(verify.at).toISOString()} rerun=${rerun} seq=${seq} />`;
  const row = last.data?.events[0];
  if (row?.detail?.verdict) return html`<${Verdict} found=${remembered(row)} tookMs=${row.durationMs} at=${row.time} rerun=${rerun} by=${row.principal} seq=${seq} />`;
  if (last.error && !last.data) return html`<${Unverified} seq=${seq} title="Whether it is whole cannot be told now" rerun=${rerun} />`;
  const loading = last.loading && !last.data;
  const title = loading ? 'The record' : verify.stopped ? 'Stopped, so nothing was found' : 'Not verified yet';
  return html`<${Unverified} seq=${seq} title=${title} loading=${loading} rerun=${rerun} />`;
}

/** A verification as its row tells it. @returns {Found} */
const remembered = (/** @type {any} */ row) => ({
  verdict: row.detail.verdict, rows: row.detail.rows, seq: row.detail.seq, message: '', headHash: row.detail.headHash,
  fromSeq: row.detail.from, throughSeq: row.detail.headSeq, checkpoints: row.detail.checkpoints,
  checkpointSeq: row.detail.checkpointSeq,
});

/** @param {{found: Found, tookMs: number, at: string, rerun: () => void, by?: string, seq: number|undefined}} props seq: the newest place of the record */
function Verdict({ found, tookMs, at, rerun, by, seq = 0 }) {
  const intact = found.verdict === 'intact';
  const since = Math.max(0, seq - found.throughSeq);
  // The verification itself stands on the record as the row after those it looked at.
  const looks = !intact ? 'verdict three broken' : since > 1 ? 'verdict three idle' : 'verdict three';
  return html`<section class="card" aria-label="State of the record" role=${intact || by !== undefined ? undefined : 'alert'} aria-live="polite">
    <div class=${looks}><span class="seal-i"><${Icon} name=${intact ? 'seal' : 'refused'} /></span>
      <h2>${titleOf(found)}</h2>
      ${intact ? html`<${Intact} found=${found} />` : html`<${Broken} found=${found} />`}
      <p class="small faint">Verified${tookMs > 0 && html` in <span class="num">${seconds(tookMs)}</span>`}, <${Ago} at=${at} />${by ? ` by ${by}` : ''}.${intact && since > 0 ? html` <b class="strong">${counted(since, 'row')} since</b>${since === 1 ? ', its own' : ', not looked at yet'}.` : ''}
        ${!intact && html` Verdict <code>${found.verdict}</code>.`}</p>
      <div class="actions">
        ${!intact && found.seq > 0 && html`<${Button} onClick=${() => go(`/audit/${found.seq}`)}>Show the row<//>`}
        <${Button} icon="reload" onClick=${rerun}>${intact ? 'Verify' : 'Verify again'}<//>
        <${ExportMenu} label=${intact ? 'Export' : 'Export evidence'} /></div>
    </div></section>`;
}

function Intact(/** @type {{found: Found}} */ { found }) {
  const from = found.fromSeq > 1 ? `, from ${grouped(found.fromSeq)} on` : ' from the first';
  return html`<p><span class="num">${counted(found.rows, 'row')}</span>${from}: no gap, no edit, no fork;
    <span class="num"> ${counted(found.checkpoints, 'signed checkpoint')}</span> met${found.checkpointSeq ? html`, the last at seq <span class="num">${grouped(found.checkpointSeq)}</span>` : ''}.</p>`;
}

function Broken(/** @type {{found: Found}} */ { found }) {
  const good = found.throughSeq > 0 ? `Rows up to ${grouped(found.throughSeq)} are as they were sealed; everything after is unproven.` : 'No row is proven.';
  const sealed = found.checkpointSeq > 0 ? `The last good checkpoint is of row ${grouped(found.checkpointSeq)}.` : 'No checkpoint vouches for a part of it.';
  return html`<p>${found.message ? `${found.message[0]?.toUpperCase()}${found.message.slice(1)}. ` : ''}${good} ${sealed}${' '}
    Export the evidence now, before anything else is done; <code>docs/audit.md</code> says what each verdict means.</p>`;
}

/** @param {{verify: ReturnType<typeof useVerify>}} props */
function Running({ verify }) {
  const rate = verify.tookMs > 250 ? (verify.rows / verify.tookMs) * 1000 : 0;
  return html`<section class="card" aria-label="State of the record" aria-busy="true"><div class="verdict three idle"><span class="seal-i"><${Icon} name="seal" /></span>
    <h2>Verifying</h2>
    <p class="num">${verify.of ? `${grouped(verify.rows)} of ${grouped(verify.of)} rows` : 'beginning'}${rate ? `, ${grouped(Math.round(rate / 100) * 100)} rows/s` : ''}; no difference so far</p>
    <p class="small faint">Calls go on meanwhile. Leaving this page stops it, and then nothing is recorded of it.</p>
    <div class="actions"><${Button} icon="cross" onClick=${verify.stop}>Stop<//></div></div>
    <progress value=${verify.of ? verify.rows : undefined} max=${verify.of || 1} aria-label="Rows verified"></progress></section>`;
}

/** @param {{seq: number|undefined, title: string, loading?: boolean, rerun: () => void}} props */
function Unverified({ seq, title, loading, rerun }) {
  return html`<section class="card" aria-label="State of the record" aria-busy=${loading}><div class="verdict three idle"><span class="seal-i"><${Icon} name="seal" /></span>
    <h2>${title}</h2>
    <p>${seq ? html`<span class="num">${counted(seq, 'row')}</span>, each bound to the one before it.` : 'Each row is bound to the one before it.'}</p>
    <p class="small faint">Verify recomputes every hash and MAC and holds them against the signed checkpoints.</p>
    <div class="actions"><${Button} kind="primary" icon="reload" onClick=${rerun}>Verify<//><${ExportMenu} label="Export" /></div></div></section>`;
}

const counted = (/** @type {number} */ n, /** @type {string} */ what) => `${grouped(n)} ${what}${n === 1 ? '' : 's'}`;

const seconds = (/** @type {number} */ ms) => (ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(2)} s`);
