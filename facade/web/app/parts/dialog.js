// One question that stands before everything else. Escape closes it, and the focus goes back where it was.
import { html, useEffect, useId, useRef, useState } from '../html.js';
import { Button } from './button.js';
import { Refusal } from './note.js';

/** @param {{open: boolean, title: any, onClose: () => void, children?: any, foot?: any, class?: string}} props */
export function Dialog({ open, title, onClose, children, foot, class: more }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  useEffect(() => {
    if (open && !box.current?.open) box.current?.showModal();
    if (!open && box.current?.open) box.current.close();
  }, [open]);
  if (!open) return null;
  const outside = (/** @type {MouseEvent} */ event) => { if (event.target === box.current) onClose(); };
  return html`
    <dialog class=${more ? `dialog ${more}` : 'dialog'} ref=${box} aria-labelledby=${id} onClose=${onClose} onMouseDown=${outside}>
      <div class="card-head"><h2 id=${id}>${title}</h2></div>
      <div class="card-body stack">${children}</div>
      ${foot && html`<div class="card-foot">${foot}</div>`}
    </dialog>`;
}

/**
 * Asks before something is gone, and names what goes with it.
 * @param {{open?: boolean, title: any, consequences: any[], confirmLabel: string, keepLabel?: string, onConfirm: () => any, onClose: () => void}} props
 *   onConfirm may be a promise; a Problem it throws is shown here. onClose is called when it is done or dismissed.
 */
export function Confirm({ open = true, title, consequences, confirmLabel, keepLabel = 'Keep it', onConfirm, onClose }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const confirm = async () => {
    setBusy(true);
    setProblem(null);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const foot = html`<${Button} onClick=${onClose} autofocus>${keepLabel}<//><${Button} kind="destroy" busy=${busy} onClick=${confirm}>${confirmLabel}<//>`;
  return html`
    <${Dialog} open=${open} title=${title} onClose=${onClose} foot=${foot}>
      ${consequences.length === 1 ? html`<p>${consequences[0]}</p>` : html`<ul class="bullets">${consequences.map((each) => html`<li>${each}</li>`)}</ul>`}
      ${problem && html`<${Refusal} problem=${problem} />`}
    <//>`;
}
