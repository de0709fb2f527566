// Checks a signed checkpoint and the key that signed it, as `docs/audit.md` lays them down. WebCrypto does the Ed25519.
//
// What a good signature says is that whoever holds that key vouched for the hash. Whether it is the gateway's key says
// only a trust root that was pinned elsewhere: it is told, so that it can be compared.

import { i64, part, unbase64, unhex } from './hash.js';

/** @typedef {{type: 'key', origin: string, number: number, keyId: string, publicKey: string, signedBy: string, signature: string}} Key */
/** @typedef {{type: 'checkpoint', origin: string, tenantId: string, seq: number, hash: string, count: number, time: string,
 *   keyId: string, signature: string}} Checkpoint */

const text = new TextEncoder();
const words = (/** @type {string} */ word) => part(text.encode(word));

/** True where the signature of `checkpoint` is that of `key`. */
export function signedBy(/** @type {Checkpoint} */ checkpoint, /** @type {Key} */ key) {
  return verified(key.publicKey, checkpoint.signature, [
    ...words('toolgate/checkpoint/v1'), ...words(checkpoint.origin), ...words(checkpoint.tenantId), ...part(i64(checkpoint.seq)),
    ...part(unhex(checkpoint.hash)), ...part(i64(checkpoint.count)), ...part(i64(microseconds(checkpoint.time))), ...words(checkpoint.keyId),
  ]);
}

/** True where every key is vouched for by the one before it, and the first by itself. */
export async function rooted(/** @type {Key[]} */ keys) {
  for (const [at, key] of keys.entries()) {
    const by = at === 0 ? key : keys[at - 1];
    if (!by || key.number !== at + 1 || key.signedBy !== by.keyId) return false;
    const said = [
      ...words('toolgate/checkpoint-key/v1'), ...words(key.origin), ...part(i64(key.number)), ...words(key.keyId),
      ...part(unhex(key.publicKey)), ...words(key.signedBy),
    ];
    if (!(await verified(by.publicKey, key.signature, said))) return false;
  }
  return keys.length > 0;
}

/** Throws where this browser knows no Ed25519. */
async function verified(/** @type {string} */ publicKey, /** @type {string} */ signature, /** @type {BlobPart[]} */ said) {
  const raw = /** @type {BufferSource} */ (unhex(publicKey));
  const key = await crypto.subtle.importKey('raw', raw, { name: 'Ed25519' }, false, ['verify']);
  const sign = /** @type {BufferSource} */ (unbase64(signature));
  return crypto.subtle.verify({ name: 'Ed25519' }, key, sign, await new Blob(said).arrayBuffer());
}

/** Microseconds since 1970 of a time with six digits. */
export function microseconds(/** @type {string} */ time) {
  const [, whole = '', digits = ''] = /^(.*?)(?:\.(\d{1,6}))?Z$/.exec(time) ?? [];
  return BigInt(Date.parse(`${whole}Z`)) * 1000n + BigInt(digits.padEnd(6, '0') || '0');
}
