// A row's place in the chain: the row before, itself, the row after, the checkpoint; and what was proved of each.

import { html } from '../../html.js';
import { Link } from '../../router.js';
import { may } from '../../session.js';
import { Icon } from '../../parts/icon.js';
import { Clock } from '../../parts/time.js';
import { grouped } from './events.js';
import { inGroups } from './hash.js';
import { ToCheckpoint } from './to-checkpoint.js';

/**
 * @param {{sealed: import('./proof.js').Sealed, proof: import('./proof.js').Proof|null, search: string}} props
 */
export function ChainOf({ sealed, proof, search }) {
  const { seq } = sealed.event;
  const link = (/** @type {number} */ to) => html`<${Link} class="num" data-stay href=${`/audit/${to}${search}`}>${grouped(to)}<//>`;
  return html`<ol class="links">
      <li><b class="faint">${seq === 1 ? 'before the first row' : may('read-record') ? link(seq - 1) : grouped(seq - 1)}</b>
        <div class="hash">${inGroups(sealed.prevHash)}</div><${Said} finding=${proof?.before} /></li>
      <li class="here"><b class="num">${grouped(seq)}, this row</b>
        <div class="hash"><b>${inGroups(sealed.hash)}</b></div>
        <div class="small faint">SHA-256, <code>toolgate/audit/v1</code>, algorithm ${sealed.algorithm}</div>
        <div class="small faint break">MAC <code>${sealed.mac.slice(0, 16)}…${sealed.mac.slice(-4)}</code> under root key <code>${sealed.keyId}</code></div></li>
      <li><b class="faint">${proof?.next.hash ? link(seq + 1) : grouped(seq + 1)}</b>
        ${proof?.next.hash && html`<div class="hash">${inGroups(proof.next.hash)}</div>`}<${Said} finding=${proof?.next} /></li>
      <li><${Covered} checkpoint=${sealed.checkpoint} /></li>
    </ol>
    ${proof && html`<${Proved} proof=${proof} checkpoint=${sealed.checkpoint} />`}
    ${proof?.hash.state === 'ok' && html`<${ToCheckpoint} sealed=${sealed} />`}`;
}

function Covered(/** @type {{checkpoint?: {seq: number, time: string}}} */ { checkpoint }) {
  if (!checkpoint) return html`<b class="faint">no checkpoint yet</b><div class="small faint">The next one is signed within a minute.</div>`;
  return html`<b class="faint num">checkpoint ${grouped(checkpoint.seq)}</b>
    <div class="small faint">signed <${Clock} at=${checkpoint.time} />, kept outside the database</div>`;
}

/** What was proved, and what was not: a browser that says "verified" and means "looked at" would be worse than none. */
function Proved(/** @type {{proof: import('./proof.js').Proof, checkpoint?: {seq: number}}} */ { proof, checkpoint }) {
  const found = [proof.hash, proof.fields, proof.next.state === 'none' ? null : { ...proof.next, words: `the row after it ${proof.next.words}` }];
  return html`<ul class="why">${found.filter((f) => f !== null).map((finding) => html`<li key=${finding.words} class=${finding.state === 'bad' ? 'bad' : undefined}>
      <span class=${finding.state === 'none' ? 'faint' : finding.state}><${Icon} name=${ICONS[finding.state]} /></span><div>${finding.words}</div></li>`)}
    <li><span class="faint"><${Icon} name="info" /></span><div>Not proved here: the MAC, whose key never leaves the gateway${checkpoint ? ', and the signature of the checkpoint unless you follow the row to it' : ''}. <b>Verify</b> checks both over the whole record; an export can be checked without this gateway.</div></li></ul>`;
}

const ICONS = { ok: 'check', bad: 'warn', none: 'info' };

const Said = (/** @type {{finding?: import('./proof.js').Finding|null}} */ { finding }) =>
  finding ? html`<div class=${`small ${finding.state === 'ok' ? 'ok' : finding.state === 'bad' ? 'bad' : 'faint'}`}>${finding.words}</div>` : null;
