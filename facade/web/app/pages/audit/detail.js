// One row whole: its fields, its place in the chain, its bytes, and what this browser proved of it.

import { html, useEffect, useMemo, useRef } from '../../html.js';
import { go } from '../../router.js';
import { may } from '../../session.js';
import { useGet, useKeys } from '../../use.js';
import { curl } from '../../api.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { CopyButton } from '../../parts/code.js';
import { HexView } from '../../parts/hex.js';
import { JsonView } from '../../parts/json.js';
import { Note, Refusal } from '../../parts/note.js';
import { Skeleton } from '../../parts/skeleton.js';
import { decode, lengths } from './canonical.js';
import { ChainOf } from './chain-of.js';
import { grouped, stateOf } from './events.js';
import { Fields } from './fields.js';
import { hex, unbase64 } from './hash.js';
import { useProof } from './proof.js';

/** @typedef {import('./proof.js').Sealed} Sealed */

const NARROW = '(max-width: 74.99rem)';

/** @param {{seq: number, search: string, nameOf: (id: string) => string}} props */
export function RowDetail({ seq, search, nameOf }) {
  const path = `/api/audit/events/${seq}`;
  const { data, error, reload } = useGet(path);
  const close = () => {
    go(`/audit${search}`, { stay: true });
    requestAnimationFrame(() => {
      const link = /** @type {HTMLElement|null} */ (document.querySelector(`tr[data-seq="${seq}"] a`));
      link?.focus({ preventScroll: !matchMedia(NARROW).matches });
    });
  };
  useKeys({ Escape: close });
  const title = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => {
    title.current?.closest('.inspector')?.scrollTo(0, 0);
    // Below two columns the row stands in the place of the list.
    if (matchMedia(NARROW).matches) title.current?.focus();
  }, [seq]);
  return html`<aside class="card inspector" aria-label=${`Row ${grouped(seq)}`} aria-busy=${!data && !error}>
    <div class="card-head"><h2 class="num" tabindex="-1" ref=${title}>Row ${grouped(seq)}</h2>
      ${data?.event.result && html`<${Badge} state=${stateOf(data.event.result)}>${data.event.result}<//>`}
      <span class="row tight push"><${CopyButton} text=${curl('GET', path)}>curl<//>
      <${CopyButton} text=${`${location.origin}/audit/${seq}`} label="Copy link to this row">Link<//>
      <${Button} kind="quiet" icon="cross" small aria-label="Close" onClick=${close} /></span></div>
    ${error && html`<div class="card-body">${error.status === 404 ? html`<${Missing} />` : html`<${Refusal} problem=${error} onRetry=${reload} />`}</div>`}
    ${!data && !error && html`<div class="card-body"><${Skeleton} lines=${12} /></div>`}
    ${data && html`<${Body} key=${seq} told=${data} search=${search} nameOf=${nameOf} />`}
  </aside>`;
}

/** Nothing is ever taken off the record, so what is not there is of the future, or somebody else's. */
const Missing = () => html`<${Note} state="warn" title="No such row.">${may('read-record')
  ? 'The record is not that long yet.' : 'It is not there yet, or it is not yours to see.'}<//>`;

/** @param {{told: any, search: string, nameOf: (id: string) => string}} props */
function Body({ told, search, nameOf }) {
  const sealed = useMemo(() => /** @type {Sealed} */ ({ ...told, bytes: unbase64(told.bytes) }), [told]);
  const decoded = useMemo(() => decode(sealed.bytes), [sealed]);
  const proof = useProof(sealed, decoded);
  const marks = useMemo(() => ('fields' in decoded ? lengths(decoded.fields) : []), [decoded]);
  const { detail } = sealed.event;
  return html`<div class="card-body"><${Fields} row=${sealed.event} nameOf=${nameOf} /></div>
    ${detail && html`<div class="card-head line"><h2>Detail</h2></div><div class="card-body"><${JsonView} value=${detail} /></div>`}
    <div class="card-head line"><h2>Chain</h2><span class="push" role="status">${proof ? html`<${Verdict} finding=${proof.hash} />` : html`<${Badge} state="idle">hashing<//>`}</span></div>
    <div class="card-body stack"><${ChainOf} sealed=${sealed} proof=${proof} search=${search} /></div>
    <div class="card-head line"><h2>Canonical bytes</h2><p class="num">${grouped(sealed.bytes.length)} bytes, lengths marked</p>
      <span class="push"><${CopyButton} text=${hex(sealed.bytes)} label="Copy the bytes as hexadecimal" /></span></div>
    <${HexView} bytes=${sealed.bytes} columns=${8} marks=${marks} label="Canonical bytes" />`;
}

const BADGE = /** @type {const} */ ({ ok: 'ok', bad: 'bad', none: 'idle' });
const WORDS = { ok: 'hash recomputed here', bad: 'hash does not fit', none: 'hash not recomputed' };

const Verdict = (/** @type {{finding: import('./proof.js').Finding}} */ { finding }) =>
  html`<${Badge} state=${BADGE[finding.state]} icon=${finding.state === 'ok' ? 'check' : undefined}>${WORDS[finding.state]}<//>`;
