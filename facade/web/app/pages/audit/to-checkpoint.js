// The way from a row to its checkpoint, walked by this browser when it is asked to.

import { html, useEffect, useRef, useState } from '../../html.js';
import { may } from '../../session.js';
import { sentence } from '../../refusals.js';
import { Button } from '../../parts/button.js';
import { Code } from '../../parts/code.js';
import { Note } from '../../parts/note.js';
import { Clock } from '../../parts/time.js';
import { grouped } from './events.js';
import { follow } from './follow.js';
import { canHash } from './hash.js';

/** @param {{sealed: import('./proof.js').Sealed}} props */
export function ToCheckpoint({ sealed }) {
  const [busy, setBusy] = useState(false);
  const [told, setTold] = useState(/** @type {import('./follow.js').Followed|null} */ (null));
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  if (!may('read-record') || !canHash()) return null;
  const walk = async () => {
    setBusy(true);
    try {
      setTold(await follow(sealed, stop.current.signal));
    } catch (error) {
      if (stop.current.signal.aborted) return;
      const unknown = /** @type {any} */ (error).name === 'NotSupportedError';
      const words = unknown ? 'this browser knows no Ed25519, so the signature cannot be checked here' : String(/** @type {any} */ (error).message ?? error);
      setTold({ ok: false, words, rows: 0, checkpoint: null, root: '' });
    }
    setBusy(false);
  };
  return html`<div class="stack tight" role="status">
    ${told ? html`<${Result} told=${told} seq=${sealed.event.seq} />`
      : html`<div><${Button} small icon="seal" busy=${busy} onClick=${walk}>Follow it to the checkpoint<//></div>`}</div>`;
}

function Result(/** @type {{told: import('./follow.js').Followed, seq: number}} */ { told, seq }) {
  const { ok, checkpoint, rows, root, words } = told;
  if (!ok) return html`<${Note} state="bad" title="Not proved up to a checkpoint."><span>${sentence(words)} Verify tells what is wrong.</span><//>`;
  return html`<${Note} state="ok" title="Proved here, up to a signed checkpoint."><span>
      ${rows === 1 ? `Row ${grouped(seq)} itself` : `Rows ${grouped(seq)} to ${grouped(checkpoint?.seq ?? 0)}`} hashed in this browser; the checkpoint of
      ${' '}<${Clock} at=${checkpoint?.time} /> carries the last hash and is signed. Trust it if this root is the one you pinned:</span><//>
    <${Code} text=${root} label="Trust root" head="Trust root" wrap />`;
}
