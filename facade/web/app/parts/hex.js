// Bytes as they are: place, so many of them, and the letters among them.
import { html, useMemo } from '../html.js';

const MOST = 16 * 1024;

/**
 * @param {{bytes: Uint8Array, label?: string, columns?: number, marks?: [number, number][]}} props
 *   columns: bytes of a line; marks: ranges to be told apart, in their order, from and up to
 */
export function HexView({ bytes, label = 'Bytes', columns = 16, marks }) {
  const rows = useMemo(() => hexRows(bytes.subarray(0, MOST), columns, marks), [bytes, columns, marks]);
  return html`
    <div class="hex" tabindex="0" role="group" aria-label=${`${label}, ${bytes.length} bytes`}>${rows.map((row) => html`
      <div><span class="o">${row.at}</span>  ${row.parts.map((part) => (part.marked ? html`<mark>${part.hex}</mark>` : part.hex))}  <span class="a">${row.text}</span></div>`)}${
      bytes.length > MOST && html`<div class="o">… ${bytes.length - MOST} more bytes</div>`}</div>`;
}

/**
 * @param {Uint8Array} bytes @param {number} [columns] @param {[number, number][]} [marks]
 * @returns {{at: string, parts: {hex: string, marked: boolean}[], text: string}[]}
 */
export function hexRows(bytes, columns = 16, marks = []) {
  const rows = [];
  for (let at = 0; at < bytes.length; at += columns) {
    const line = [...bytes.subarray(at, at + columns)];
    rows.push({
      at: at.toString(16).padStart(4, '0'),
      parts: partsOf(line, at, columns, marks),
      text: line.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '·')).join(''),
    });
  }
  return rows;
}

/** A line in runs that are marked or not. @param {number[]} line @param {number} at @param {number} columns @param {[number, number][]} marks */
function partsOf(line, at, columns, marks) {
  /** @type {{hex: string, marked: boolean}[]} */
  const parts = [];
  const put = (/** @type {string} */ hex, /** @type {boolean} */ marked) => {
    const last = parts.at(-1);
    if (last && last.marked === marked) last.hex += hex;
    else parts.push({ hex, marked });
  };
  const isMarked = (/** @type {number} */ place) => marks.some(([from, to]) => place >= from && place < to);
  line.forEach((byte, index) => {
    const marked = isMarked(at + index);
    if (index > 0) put(' ', marked && isMarked(at + index - 1));
    put(byte.toString(16).padStart(2, '0'), marked);
  });
  const short = columns - line.length;
  if (short > 0) put(' '.repeat(3 * short), false);
  return parts;
}
