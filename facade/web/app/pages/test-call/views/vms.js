// Virtual machines and containers, as a table.
import { html } from '../../../html.js';
import { Bar } from '../../../parts/bars.js';
import { Dot } from '../../../parts/badge.js';
import { gib, percent, plain, span } from './figures.js';

const BUSY = 0.8;

/** @param {any} vm */
const running = (vm) => vm.status === 'running';

export const vms = {
  rowKey: (/** @type {any} */ vm) => plain(vm.vmid),
  columns: [
    { key: 'vmid', label: 'VMID', by: (/** @type {any} */ vm) => vm.vmid, render: (/** @type {any} */ vm) => html`<code>${plain(vm.vmid)}</code>` },
    {
      key: 'name', label: 'Name', by: (/** @type {any} */ vm) => vm.name, className: 'name',
      render: (/** @type {any} */ vm) => html`${plain(vm.name)}<span class="sub only-narrow">${plain(vm.node)}</span>`,
    },
    {
      key: 'status', label: 'Status', by: (/** @type {any} */ vm) => vm.status,
      render: (/** @type {any} */ vm) => html`<span class="state"><${Dot} state=${running(vm) ? 'ok' : 'off'} />
        <span class=${running(vm) ? '' : 'faint'}>${vm.template ? 'template' : plain(vm.status)}</span></span>`,
    },
    { key: 'node', label: 'Node', by: (/** @type {any} */ vm) => vm.node, className: 'md dim', render: (/** @type {any} */ vm) => plain(vm.node) },
    {
      key: 'cpu', label: 'CPU', by: (/** @type {any} */ vm) => vm.cpu, className: 'r sm',
      render: (/** @type {any} */ vm) => html`<span class=${vm.cpu > BUSY ? 'warn strong' : ''}>${percent(vm.cpu)}</span>`,
    },
    {
      key: 'bar', label: html`<span class="sr">CPU bar</span>`, className: 'lg meter',
      render: (/** @type {any} */ vm) => html`<${Bar} part=${vm.cpu ?? 0} of=${1} state=${vm.cpu > BUSY ? 'warn' : undefined} />`,
    },
    {
      key: 'mem', label: 'Memory, GiB', by: (/** @type {any} */ vm) => vm.mem, className: 'r md dim',
      render: (/** @type {any} */ vm) => `${gib(vm.mem)} / ${gib(vm.maxmem)}`,
    },
    { key: 'uptime', label: 'Uptime', by: (/** @type {any} */ vm) => vm.uptime, className: 'r lg dim', render: (/** @type {any} */ vm) => span(vm.uptime) },
  ],
};
