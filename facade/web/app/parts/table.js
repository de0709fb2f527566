// Rows of one kind. J and K go through them, Enter opens; what a narrow card drops is in the detail.
import { html, useRef, useState } from '../html.js';
import { useKeys } from '../use.js';
import { Skeleton } from './skeleton.js';

/**
 * @typedef {{key: string, label: any, render?: (row: any, at: number) => any, className?: string, hideLabel?: boolean,
 *   sorted?: 'ascending' | 'descending' | 'none', onSort?: () => void}} Column
 *   onSort: the head is a button; sorted: how the rows stand by it; className: num (figures, right), mono, lg, md, sm (dropped where the card is narrow)
 */

/**
 * @param {{columns: Column[], rows: any[] | undefined | null, rowKey: ((row: any) => string | number) | string, onOpen?: (row: any) => void,
 *   selected?: string | number | null, empty?: any, loading?: boolean, label?: string, rowClass?: (row: any) => string | undefined, detail?: (row: any) => any}} props
 *   detail: what stands under an opened row, or nothing
 */
export function Table({ columns, rows, rowKey, onOpen, selected, empty, loading, label, rowClass, detail }) {
  const table = useRef(/** @type {HTMLTableElement | null} */ (null));
  const [at, setAt] = useState(0);
  useKeys(onOpen ? keysOf(table) : {});
  if (!rows) return loading === false ? null : html`<${Skeleton} rows=${6} />`;
  if (rows.length === 0) return loading ? html`<${Skeleton} rows=${6} />` : empty ?? null;
  const keyOf = typeof rowKey === 'function' ? rowKey : (/** @type {any} */ row) => row[rowKey];
  const reachable = Math.min(at, rows.length - 1);
  return html`
    <table class="table" ref=${table} aria-label=${label} data-opens=${onOpen ? '' : undefined}>
      <thead><tr>${columns.map((column) => html`<th key=${column.key} scope="col" class=${classOf(column)} aria-sort=${column.sorted}>${head(column)}</th>`)}</tr></thead>
      <tbody>${rows.map((row, index) => {
        const key = keyOf(row);
        const open = () => onOpen?.(row);
        const inside = html`${columns.map((column) => html`<td key=${column.key} class=${classOf(column)}>${column.render ? column.render(row, index) : row[column.key]}</td>`)}`;
        const below = detail?.(row);
        const shared = { class: [rowClass?.(row), below && 'open', onOpen && 'opens'].filter(Boolean).join(' ') || undefined, 'aria-selected': selected === undefined ? undefined : String(key === selected) };
        const reach = onOpen ? { tabIndex: index === reachable ? 0 : -1, onFocus: () => setAt(index), onClick: (/** @type {any} */ event) => { if (!pressed(event)) open(); }, onKeyDown: (/** @type {any} */ event) => { if (event.key === 'Enter' && event.target === event.currentTarget) { event.preventDefault(); open(); } } } : {};
        return html`
          <tr key=${key} ...${shared} ...${reach}>${inside}</tr>
          ${below && html`<tr class="detail" key=${`${key}-detail`}><td colspan=${columns.length}><div class="detail-body">${below}</div></td></tr>`}`;
      })}</tbody>
    </table>`;
}

const ARROWS = { ascending: '↑', descending: '↓', none: '' };

/** @param {Column} column */
function head({ label, hideLabel, sorted, onSort }) {
  if (onSort) return html`<button type="button" onClick=${onSort}>${label} <span aria-hidden="true">${ARROWS[sorted ?? 'none']}</span></button>`;
  return hideLabel ? html`<span class="sr">${label}</span>` : label;
}

/** @param {Column} column */
const classOf = (column) => (column.className ?? '').replace(/\bnum\b/, 'r num') || undefined;

/** Whether a click meant something inside the row. @param {MouseEvent} event */
function pressed(event) {
  const inside = event.target instanceof Element && event.target.closest('a, button, input, select, label, summary, [popover]');
  return Boolean(inside) || Boolean(getSelection()?.toString());
}

/** @param {{current: HTMLTableElement | null}} table */
function keysOf(table) {
  const step = (/** @type {number} */ by) => () => {
    if (!mine(table.current)) return false;
    const rows = /** @type {HTMLElement[]} */ ([.../** @type {HTMLTableElement} */ (table.current).querySelectorAll('tbody > tr[tabindex]')]);
    const now = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[now < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, now + by))];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
    return true;
  };
  return { j: step(1), k: step(-1) };
}

/** The table that holds the focus listens; else the first on the page. @param {HTMLTableElement | null} table */
function mine(table) {
  if (!table) return false;
  const holding = document.activeElement?.closest('table[data-opens]');
  return (holding ?? document.querySelector('table[data-opens]')) === table;
}
