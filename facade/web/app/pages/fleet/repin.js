// Pinning the key that a relay shows now: both keys side by side, and a person who has looked at the host.

import { html, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Check } from '../../parts/field.js';
import { Dialog } from '../../parts/dialog.js';
import { KeyValue } from '../../parts/kv.js';
import { Refusal } from '../../parts/note.js';
import { toast } from '../../parts/toast.js';
import { pin } from './change.js';

/** @param {{relay: import('./project.js').Relay, onClose: () => void, onPinned: () => void}} props */
export function Repin({ relay, onClose, onPinned }) {
  const [looked, setLooked] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const go = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await pin(relay.targetId, relay.liveKey);
      toast({ title: `${relay.name} has a new pin`, text: 'Its relay comes back within five minutes, and at once when it is restarted.' });
      onPinned();
      onClose();
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  const foot = html`<${Button} onClick=${onClose} autofocus>Keep the old pin<//><${Button} kind="primary" busy=${busy} disabled=${!looked} onClick=${go}>Pin new key<//>`;
  return html`<${Dialog} open title=${`Pin a new key for ${relay.name}?`} onClose=${onClose} foot=${foot}>
    <p>Compare with the key that the relay prints when it starts. Only a person who can reach the host should do this.</p>
    <${KeyValue} rows=${[
      ['Pinned', html`<span class="hash">${relay.pinnedKey || 'none'}</span>`],
      ['Live', html`<span class="hash"><b>${relay.liveKey}</b></span>`],
    ]} />
    <ul class="bullets">
      <li>Whoever holds the live key answers the calls of ${relay.name} from then on.</li>
      <li>The relay with the pinned key is kept out.</li>
      <li>Both keys go on the audit record as <code>relay.repinned</code>.</li>
    </ul>
    <${Check} checked=${looked} onChange=${setLooked} label="The host shows the live key" />
    ${problem && html`<${Refusal} problem=${problem} />`}
  <//>`;
}
