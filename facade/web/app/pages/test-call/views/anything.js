// Lists and objects of any tool: columns are found in what came, never promised by its sender.
import { html } from '../../../html.js';
import { plain } from './figures.js';

/** More columns than this are read as raw JSON. */
const WIDE = 7;
const WIDTHS = ['', '', 'sm', 'md', 'md', 'lg', 'lg'];

/**
 * The one list of objects in a result, if there is just one.
 * @param {any} value
 * @returns {{name: string, rows: any[]}|null}
 */
export function listIn(value) {
  if (Array.isArray(value)) return objects(value) ? { name: 'rows', rows: value } : null;
  if (!value || typeof value !== 'object') return null;
  const lists = Object.entries(value).filter(([, inner]) => Array.isArray(inner));
  const found = lists.length === 1 ? lists[0] : undefined;
  return found && objects(found[1]) ? { name: found[0], rows: found[1] } : null;
}

/**
 * Columns for rows of any kind: the members that hold plain values, in the order they came.
 * @param {any[]} rows
 */
export function columnsOf(rows) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (const row of rows) {
    for (const [key, value] of Object.entries(row)) if (scalar(value)) seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return [...seen.keys()].slice(0, WIDE).map((key, at) => ({
    key,
    label: words(key),
    by: (/** @type {any} */ row) => row[key],
    className: `${WIDTHS[at]} ${rows.every((row) => row[key] === undefined || typeof row[key] === 'number') ? 'r' : ''}`,
    render: (/** @type {any} */ row) => html`<span class="break">${plain(row[key])}</span>`,
  }));
}

/**
 * Rows of a key–value list: what an object holds, lists and objects by their size.
 * @param {any} value
 * @returns {[any, any][]}
 */
export function fieldsOf(value) {
  return Object.entries(value).map(([key, inner]) => [html`<code>${key}</code>`, html`<span class="break">${scalar(inner) ? plain(inner) : short(inner)}</span>`]);
}

/** @param {any[]} list */
function objects(list) {
  return list.every((row) => row && typeof row === 'object' && !Array.isArray(row) && !('rawJSON' in row));
}

/** @param {unknown} value */
function scalar(value) {
  return value === null || typeof value !== 'object' || 'rawJSON' in value;
}

/** @param {any} value */
function short(value) {
  const text = JSON.stringify(value);
  return text.length <= 200 ? text : Array.isArray(value) ? `${value.length} entries, see raw JSON` : 'see raw JSON';
}

/** @param {string} key */
function words(key) {
  const text = key.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
