// Asks before a target is deleted: what is lost, and its name typed.

import { html, useState } from '../../html.js';
import { useGet } from '../../use.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field, TextInput } from '../../parts/field.js';
import { Refusal } from '../../parts/note.js';
import { consequences, remove } from './change.js';

/** @typedef {import('./target.js').Target} Target */

/** @param {{target: Target, all: Target[], onClose: () => void, onGone: () => void}} props */
export function DeleteDialog({ target, all, onClose, onGone }) {
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const types = useGet('/api/mcp/adapter-types');
  /** @type {string[]} */
  const tools = types.data?.types.find((/** @type {{type: string}} */ { type }) => type === target.type)?.tools ?? [];

  const go = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (typed !== target.name) return;
    setBusy(true);
    try {
      await remove(target);
      onGone();
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };

  return html`<${Dialog} open title=${`Delete ${target.name}?`} onClose=${onClose}
    foot=${html`<${Button} onClick=${onClose}>Keep it<//>
      <${Button} kind="destroy" type="submit" form="delete-target" busy=${busy} disabled=${typed !== target.name}>Delete target<//>`}>
    <form id="delete-target" class="stack" onSubmit=${go}>
      ${consequences(target, all, tools).map((text) => html`<p key=${text}>${text}</p>`)}
      ${problem && html`<${Refusal} problem=${problem} />`}
      <${Field} id="delete-name" label=${html`<span>Type <code class="break">${target.name}</code> to confirm</span>`}>
        ${(/** @type {string} */ id, /** @type {string} */ describedBy) =>
          html`<${TextInput} id=${id} mono describedBy=${describedBy} value=${typed} onChange=${setTyped} />`}
      <//>
    </form>
  <//>`;
}
