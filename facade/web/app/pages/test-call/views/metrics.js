// How a node is doing: charts of its samples, and its state now. Missing samples are gaps.
import { html } from '../../../html.js';
import { Chart } from '../../../parts/chart.js';
import { KeyValue } from '../../../parts/kv.js';
import { percent, plain, size, span } from './figures.js';

/** @param {{value: any}} props the structured answer of proxmox.get_node_metrics */
export function Metrics({ value }) {
  const samples = value.samples.filter((/** @type {any} */ sample) => typeof sample.time === 'number');
  const times = samples.map((/** @type {any} */ sample) => sample.time * 1000);
  const series = (/** @type {string} */ key, scale = 1) => samples.map((/** @type {any} */ sample) => (typeof sample[key] === 'number' ? sample[key] * scale : null));
  const gaps = samples.filter((/** @type {any} */ sample) => sample.cpu === undefined).length;
  const cpu = series('cpu', 100);
  const peak = cpu.reduce((/** @type {number} */ most, /** @type {number|null} */ next) => Math.max(most, next ?? 0), 0);
  return html`<div class="card-body stack">
    ${!times.length && html`<p class="faint">No samples in this time frame.</p>`}
    ${times.length > 0 && html`<div class="split even">
      <${Figure} title="CPU" note=${`now ${percent(value.cpu)}, peak ${percent(peak / 100)}`}
        unit="%" times=${times} series=${[{ label: 'CPU', values: cpu }, { label: 'I/O wait', values: series('iowait', 100) }]} />
      <${Figure} title="Memory" note=${value.memory ? `${size(value.memory.used)} of ${size(value.memory.total)}` : ''}
        unit="GiB" times=${times} series=${[{ label: 'used', values: series('memused', 2 ** -30) }, { label: 'total', values: series('memtotal', 2 ** -30) }]} />
      <${Figure} title="Network" note="received and sent" unit="KiB/s" times=${times}
        series=${[{ label: 'in', values: series('netin', 2 ** -10) }, { label: 'out', values: series('netout', 2 ** -10) }]} />
      <${Figure} title="Load" note=${(value.loadavg ?? []).map(plain).join(' ')} unit="" times=${times}
        series=${[{ label: 'load', values: series('loadavg') }]} />
    </div>`}
    <${KeyValue} rows=${facts(value)} />
    <p class="small faint">${times.length} samples of the ${plain(value.timeframe)}${gaps > 0 && `, ${gaps} of them missing and shown as gaps`}</p>
  </div>`;
}

/** @param {any} value @returns {[string, any][]} */
function facts(value) {
  return [
    ['State', plain(value.status)],
    ['Up', span(value.uptime)],
    ['Root disk', value.rootfs ? `${size(value.rootfs.used)} of ${size(value.rootfs.total)}` : '–'],
    ['Swap', value.swap ? `${size(value.swap.used)} of ${size(value.swap.total)}` : '–'],
    ['Processors', value.cpuinfo ? `${plain(value.cpuinfo.cpus)} of ${plain(value.cpuinfo.model)}` : '–'],
    ['Version', plain(value.pveversion)],
  ];
}

/** @param {{title: string, note: string, unit: string, times: number[], series: any[]}} props */
function Figure({ title, note, unit, times, series }) {
  return html`<div class="stack tight">
    <p class="row"><b class="small strong">${title}</b><span class="small faint">${note}</span></p>
    <${Chart} series=${series} times=${times} unit=${unit} format=${short} />
  </div>`;
}

/** @param {number} value */
const short = (value) => (value >= 100 ? value.toFixed(0) : String(Math.round(value * 100) / 100));
