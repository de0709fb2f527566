// Which view shows an answer best: a table, charts, what a command printed, or the fields of an object.
import { parseExact } from '../../../exact.js';
import { html } from '../../../html.js';
import { KeyValue } from '../../../parts/kv.js';
import { textOf } from '../outcome.js';
import { fieldsOf, listIn } from './anything.js';
import { Printed } from './command.js';
import { Metrics } from './metrics.js';
import { Rows } from './rows.js';
import { Vm } from './vm.js';

/**
 * @typedef {{id: string, label: string, count?: number, children: any}} View
 * @param {string} tool
 * @param {import('../outcome.js').Outcome} outcome
 * @returns {View|null} nothing where the text says it all
 */
export function viewOf(tool, outcome) {
  const value = outcome.structuredContent ?? fromText(outcome);
  if (!value || typeof value !== 'object' || outcome.isError) return null;
  if (tool === 'ssh.run_whitelisted_command' && 'stdout' in value) return { id: 'view', label: 'Output', children: html`<${Printed} value=${value} />` };
  if (tool === 'proxmox.get_node_metrics' && Array.isArray(value.samples)) return { id: 'view', label: 'Charts', count: value.samples.length, children: html`<${Metrics} value=${value} />` };
  if (tool === 'proxmox.get_vm_status') return { id: 'view', label: 'Guest', children: html`<${Vm} value=${value} />` };
  const list = listIn(value);
  if (list) return { id: 'view', label: 'Table', count: list.rows.length, children: html`<${Rows} tool=${tool} list=${list} />` };
  const inner = Object.values(value).filter((each) => each && typeof each === 'object' && !Array.isArray(each));
  // One object within says more than the object around it.
  const fields = inner.length === 1 && Object.keys(value).length <= 2 ? inner[0] : value;
  return { id: 'view', label: 'Fields', children: html`<div class="card-body"><${KeyValue} rows=${fieldsOf(fields)} /></div>` };
}

/** Tools of agents answer JSON as text. @param {import('../outcome.js').Outcome} outcome */
function fromText(outcome) {
  const text = textOf(outcome).trim();
  if (!/^[{[]/.test(text)) return null;
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}
