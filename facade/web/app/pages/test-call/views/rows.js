// A list in an answer, as a table whose rows can be put in another order.
import { html, useState } from '../../../html.js';
import { Table } from '../../../parts/table.js';
import { columnsOf } from './anything.js';
import { ordered } from './order.js';
import { repos } from './repos.js';
import { runs } from './runs.js';
import { vms } from './vms.js';
import { lookup } from '../../../lookup.js';

const KNOWN = /** @type {Record<string, any>} */ (lookup({ vms, runs, repos }));
/** Which tools' lists those are; others with a list of the same name are shown as what they are. */
const INFRASTRUCTURE = /^(proxmox|github|gitea)\./;
/** More rows than a person reads. */
const MOST = 500;

/** @param {{tool: string, list: {name: string, rows: any[]}}} props */
export function Rows({ tool, list }) {
  const [order, setOrder] = useState(/** @type {import('./order.js').Order} */ ({ key: '', down: false }));
  if (!list.rows.length) return html`<p class="card-body faint">The list is empty.</p>`;
  const known = INFRASTRUCTURE.test(tool) ? KNOWN[list.name] : undefined;
  const columns = (known?.columns ?? columnsOf(list.rows)).map((/** @type {any} */ column) => column.by ? {
    ...column,
    sorted: order.key !== column.key ? 'none' : order.down ? 'descending' : 'ascending',
    onSort: () => setOrder({ key: column.key, down: order.key === column.key && !order.down }),
  } : column);
  const by = columns.find((/** @type {any} */ column) => column.key === order.key)?.by;
  // Rows of others may share whatever would tell them apart, so each goes by its place.
  const rows = ordered(list.rows.map((row, at) => ({ ...row, '#': at })), by, order.down).slice(0, MOST);
  return html`<${Table} columns=${columns} rows=${rows} rowKey="#" label=${list.name} />
    ${list.rows.length > MOST && html`<p class="card-body small faint">${MOST} of ${list.rows.length} rows; raw JSON has all of them.</p>`}`;
}
