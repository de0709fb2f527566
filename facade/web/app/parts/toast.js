// Short news of what the page does not show itself. Refusals stay until they are dismissed.
import { html, signal, useEffect } from '../html.js';
import { Icon } from './icon.js';
import { Button } from './button.js';

/** @typedef {{id: number, state: 'ok' | 'bad', title: any, text?: any, action?: any}} Told */

const told = signal(/** @type {Told[]} */ ([]));
let last = 0;
const MOST = 4;
const STAYS_MS = 6000;

/** @param {{state?: 'ok' | 'bad', title: any, text?: any, action?: any}} what @returns {() => void} takes it back */
export function toast({ state = 'ok', title, text, action }) {
  const id = (last += 1);
  told.value = [...told.value.slice(1 - MOST), { id, state, title, text, action }];
  return () => dismiss(id);
}

/** @param {number} id */
const dismiss = (id) => { told.value = told.value.filter((each) => each.id !== id); };

/** Dismisses the newest. @returns {boolean} whether there was one */
export function dismissNewest() {
  const newest = told.value.at(-1);
  if (newest) dismiss(newest.id);
  return newest !== undefined;
}

/** Where they appear; once, in the frame. */
export const Toasts = () => html`
  <div class="toasts" role="status" aria-live="polite">${told.value.map((each) => html`<${Toast} key=${each.id} each=${each} />`)}</div>`;

/** @param {{each: Told}} props */
function Toast({ each }) {
  useEffect(() => {
    if (each.state === 'bad') return undefined;
    const timer = setTimeout(() => dismiss(each.id), STAYS_MS);
    return () => clearTimeout(timer);
  }, [each.id]);
  return html`
    <div class=${`toast ${each.state}`}>
      <${Icon} name=${each.state === 'ok' ? 'check' : 'warn'} />
      <div>${each.title}${each.text && html`<p>${each.text}</p>`}</div>
      <span class="row tight">${each.action}<${Button} kind="quiet" small icon="cross" aria-label="Dismiss" onClick=${() => dismiss(each.id)} /></span>
    </div>`;
}
