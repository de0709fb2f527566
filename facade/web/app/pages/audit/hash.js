// The hash of a row, as `docs/audit.md` lays it down, recomputed by this browser.
//
// Absent on purpose: MACs. They need the gateway's record key, which leaves it for nobody.

/** What a row's hash is made of. @typedef {{tenantId: string, algorithm: number, seq: number, prev: Uint8Array, bytes: Uint8Array}} Sealed */

const text = new TextEncoder();

/** True where this browser may hash: WebCrypto wants HTTPS or this machine. */
export const canHash = () => globalThis.isSecureContext === true && !!globalThis.crypto?.subtle;

/** SHA-256 of `data`. */
export async function sha256(/** @type {BlobPart[]} */ data) {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(data).arrayBuffer()));
}

/** The hash that the row must have. */
export function rowHash(/** @type {Sealed} */ row) {
  return sha256([
    ...part(text.encode('toolgate/audit/v1')), ...part(i64(row.algorithm)), ...part(text.encode(row.tenantId)),
    ...part(i64(row.seq)), ...part(row.prev), ...part(row.bytes),
  ]);
}

/** The hash before row 1. */
export function genesis(/** @type {string} */ tenantId) {
  return sha256([...part(text.encode('toolgate/audit/v1/genesis')), ...part(text.encode(tenantId))]);
}

/** A part of what is hashed: its length as a big-endian u64, then itself. @returns {BlobPart[]} */
export const part = (/** @type {Uint8Array} */ x) => [i64(x.length), /** @type {Uint8Array<ArrayBuffer>} */ (x)];

/** A number as a big-endian i64. */
export function i64(/** @type {number|bigint} */ n) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(n));
  return bytes;
}

/** Bytes as lower-case hexadecimal. */
export const hex = (/** @type {Uint8Array} */ bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/** The bytes of hexadecimal text; empty for none. */
export const unhex = (/** @type {string} */ digits) =>
  Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** The bytes of base64 text. */
export const unbase64 = (/** @type {string} */ coded) => Uint8Array.from(atob(coded), (c) => c.charCodeAt(0));

/** A hash in groups of eight digits, for people. */
export const inGroups = (/** @type {string} */ digits) => digits.match(/.{1,8}/g)?.join(' ') ?? '';
