// A target that passed its checks just now: said above its page, until the page is left.

import { html, signal, useEffect, useRef } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Note } from '../../parts/note.js';
import { spent } from './target.js';

/** The id of the target that was added last; it is news on its page alone. */
export const added = signal('');

/** @param {{target: import('./target.js').Target}} props */
export function Added({ target }) {
  const open = target.validation?.notProvable.length ?? 0;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // The form that held the focus is gone.
    box.current?.focus({ preventScroll: true });
    return () => { added.value = ''; };
  }, []);
  return html`<div role="status" tabindex="-1" ref=${box}>
    <${Card} title=${`${target.name} is live`}
      foot=${html`<${Button} kind="primary" icon="call" href=${`/test-call?target=${target.id}`}>Call it<//>
        <${Button} href="/adapters">All adapters<//>
        <${Button} kind="quiet" href=${`/adapters/new/${target.type}`}>Add another<//>`}>
        <${Note} state="ok" title="Saved."><p>Every check passed in ${spent(target.validation?.stages ?? [])} ms. Agents see its tools now.</p><//>
        ${open > 0 &&
        html`<${Note} state="warn" title=${`${open} ${open === 1 ? 'right' : 'rights'} cannot be ruled out by reading.`}>
          <p>They are listed below and on the record. See to it that none of them was given.</p>
        <//>`}
    <//>
  </div>`;
}
