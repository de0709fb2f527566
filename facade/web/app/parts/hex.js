// Bytes as they are: place, sixteen of them, and the letters among them.
import { html, useMemo } from '../html.js';

const MOST = 16 * 1024;

/** @param {{bytes: Uint8Array, label?: string}} props */
export function HexView({ bytes, label = 'Bytes' }) {
  const rows = useMemo(() => hexRows(bytes.subarray(0, MOST)), [bytes]);
  return html`
    <div class="hex" tabindex="0" role="group" aria-label=${`${label}, ${bytes.length} bytes`}>${rows.map((row) => html`
      <div><span class="o">${row.at}</span>  ${row.hex}  <span class="a">${row.text}</span></div>`)}${
      bytes.length > MOST && html`<div class="o">… ${bytes.length - MOST} more bytes</div>`}</div>`;
}

/** @param {Uint8Array} bytes */
export function hexRows(bytes) {
  const rows = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    rows.push({
      at: at.toString(16).padStart(6, '0'),
      hex: part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ').padEnd(47),
      text: part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join(''),
    });
  }
  return rows;
}
