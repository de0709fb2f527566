// The log of one call.
import { html } from '../../html.js';
import { EventLog } from '../../parts/log.js';
import { took } from './views/figures.js';

/** @param {{call: import('./state.js').Call}} props */
export const Lines = ({ call }) => html`<${EventLog} label="Events of this call"
  events=${call.lines.map((line) => ({ t: took(line.at), kind: line.kind, text: line.text, detail: line.detail, note: line.end }))} />`;
