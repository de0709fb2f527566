// A target that passed its checks: what was found, and where to go from here.

import { html, useEffect, useRef } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Note } from '../../parts/note.js';
import { Checks } from './checks.js';
import { Proof } from './proof.js';
import { spent } from './target.js';

/** @param {{target: import('./target.js').Target, onAnother: () => void}} props */
export function Added({ target, onAnother }) {
  const stages = target.validation?.stages ?? [];
  const open = target.validation?.notProvable ?? [];
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  // The form that held the focus is gone.
  useEffect(() => box.current?.focus({ preventScroll: true }), []);
  return html`<div class="split form added" role="status" tabindex="-1" ref=${box}>
    <div class="stack">
      <${Card} title=${`${target.name} is live`}
        foot=${html`<${Button} kind="primary" icon="call" href=${`/test-call?target=${target.id}`}>Call it<//>
          <${Button} href="/adapters">All adapters<//>
          <${Button} kind="quiet" onClick=${onAnother}>Add another<//>`}>
          <${Note} state="ok" title="Saved."><p>Every check passed in ${spent(stages)} ms. Agents see its tools now.</p><//>
          ${open.length > 0 &&
          html`<${Note} state="warn" title=${`${open.length} ${open.length === 1 ? 'right' : 'rights'} cannot be ruled out by reading.`}>
            <p>They are listed below and on the record. See to it that none of them was given.</p>
          <//>`}
      <//>
      <${Proof} validation=${target.validation} />
    </div>
    <aside class="stack" aria-label="Checks"><${Checks} type=${target.type} stages=${stages} /></aside>
  </div>`;
}
