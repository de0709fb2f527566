// The log of one call.
import { html } from '../../html.js';
import { EventLog } from '../../parts/log.js';
import { took } from './views/figures.js';

/** @param {{call: import('./state.js').Call, waiting?: boolean}} props */
export function Lines({ call, waiting }) {
  const lines = call.lines.map((line) => ({ t: took(line.at), kind: line.kind, text: line.text, detail: line.detail, note: line.end }));
  return html`<${EventLog} label="Events of this call" events=${waiting ? [...lines, { t: '', kind: 'now', ...awaited(call) }] : lines} />`;
}

/** What the call waits for now. @param {import('./state.js').Call} call */
function awaited(call) {
  if (call.phase === 'sending') return { text: 'waiting', detail: 'for the gateway to admit it' };
  if (call.phase === 'cancelling') return { text: 'waiting', detail: 'for the gateway to say how it ended' };
  if (call.lost) return { text: 'reconnecting' };
  return { text: 'waiting', detail: call.target ? `for ${call.target.name}` : 'for the answer' };
}
