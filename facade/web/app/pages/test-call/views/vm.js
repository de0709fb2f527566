// One virtual machine or container, right now. What is not shown here stands in the raw JSON.
import { html } from '../../../html.js';
import { State } from '../../../parts/badge.js';
import { Bar } from '../../../parts/bars.js';
import { KeyValue } from '../../../parts/kv.js';
import { percent, plain, size, span } from './figures.js';

/** @param {{value: any}} props the structured answer of proxmox.get_vm_status */
export const Vm = ({ value }) => html`<div class="card-body"><${KeyValue} rows=${[
  ['Guest', html`<b class="strong break">${plain(value.name)}</b> <code>${plain(value.vmid)}</code>`],
  ['State', html`<${State} state=${value.status === 'running' ? 'ok' : 'off'}>${value.template ? 'template' : plain(value.status)}<//>${finer(value)}`],
  ['Kind', value.type === 'lxc' ? 'container (lxc)' : value.type === 'qemu' ? 'virtual machine (qemu)' : plain(value.type)],
  ['Node', plain(value.node)],
  ['Up', span(value.uptime)],
  ['CPU', html`<${Use} part=${value.cpu} of=${1} text=${`${percent(value.cpu)} of ${plain(value.cpus)} CPUs`} />`],
  ['Memory', html`<${Use} part=${value.mem} of=${value.maxmem} text=${`${size(value.mem)} of ${size(value.maxmem)}`} />`],
  ['Swap', value.maxswap > 0 && `${size(value.swap)} of ${size(value.maxswap)}`],
  ['Disk', value.maxdisk > 0 && html`<${Use} part=${value.disk} of=${value.maxdisk} text=${`${size(value.disk)} of ${size(value.maxdisk)}`} />`],
  ['Network', `${size(value.netin)} in, ${size(value.netout)} out`],
  ['Disk traffic', `${size(value.diskread)} read, ${size(value.diskwrite)} written`],
  ['High availability', value.ha_managed && plain(value.ha_state ?? 'managed')],
  ['Machine', value.running_machine && `${plain(value.running_machine)}, QEMU ${plain(value.running_qemu)}`],
  ['Tags', value.tags?.length > 0 && value.tags.join(', ')],
]} /></div>`;

/** @param {{part: any, of: any, text: string}} props */
const Use = ({ part, of, text }) => html`${text}${typeof part === 'number' && typeof of === 'number' && html`<${Bar} part=${part} of=${of} state=${part / of > 0.9 ? 'warn' : undefined} />`}`;

/** @param {any} value */
function finer(value) {
  const word = value.lock ?? (value.qmpstatus !== value.status ? value.qmpstatus : undefined);
  return word ? html` <span class="faint">${plain(word)}</span>` : null;
}
