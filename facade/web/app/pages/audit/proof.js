// What this browser can prove of one row by itself, from its bytes and the hashes beside it.
//
// Absent on purpose: MACs and checkpoints' signatures. The first need a key that no browser has; the second are checked by
// Verify and by `toolgate audit verify --export`.

import { useEffect, useState } from '../../html.js';
import { get } from '../../api.js';
import { differences } from './canonical.js';
import { canHash, genesis, hex, rowHash, unhex } from './hash.js';

/** @typedef {import('./events.js').AuditEvent} AuditEvent */

/**
 * A row as `GET /api/audit/events/{seq}` tells it, its bytes decoded.
 * @typedef {{event: AuditEvent, bytes: Uint8Array, prevHash: string, hash: string, mac: string, algorithm: number,
 *   keyId: string, checkpoint?: {seq: number, time: string}}} Sealed
 */

/** `ok` proven, `bad` disproven, `none` cannot be told here. @typedef {{state: 'ok'|'bad'|'none', words: string}} Finding */

/** @typedef {{hash: Finding, fields: Finding, before: Finding|null, next: Finding & {hash: string}}} Proof */

/** The proof of a row, or null while it is made. @returns {Proof|null} */
export function useProof(/** @type {Sealed} */ sealed, /** @type {{fields: import('./canonical.js').Field[]}|{fault: string}} */ decoded) {
  const [proof, setProof] = useState(/** @type {Proof|null} */ (null));
  useEffect(() => {
    let left = false;
    setProof(null);
    prove(sealed, decoded).then((made) => { if (!left) setProof(made); });
    return () => { left = true; };
  }, [sealed]);
  return proof;
}

async function prove(/** @type {Sealed} */ sealed, /** @type {{fields: import('./canonical.js').Field[]}|{fault: string}} */ decoded) {
  const [hash, before, next] = await Promise.all([ownHash(sealed), first(sealed), follower(sealed)]);
  return { hash, before, next, fields: shownFields(sealed, decoded) };
}

/** @returns {Promise<Finding>} */
async function ownHash(/** @type {Sealed} */ sealed) {
  if (!canHash()) return { state: 'none', words: 'not recomputed: over plain HTTP this browser offers no hashing, except on the gateway\'s own machine' };
  if (sealed.algorithm !== 1) return { state: 'none', words: `algorithm ${sealed.algorithm} is not known to this page` };
  const { event, bytes, algorithm, prevHash } = sealed;
  const made = hex(await rowHash({ tenantId: event.tenantId, algorithm, seq: event.seq, prev: unhex(prevHash), bytes }));
  return made === sealed.hash
    ? { state: 'ok', words: 'hash recomputed here' }
    : { state: 'bad', words: `these bytes hash to ${made.slice(0, 16)}…, not to what is stored` };
}

/** Row 1 follows the beginning of its tenant, which anyone can compute. @returns {Promise<Finding|null>} */
async function first(/** @type {Sealed} */ sealed) {
  if (sealed.event.seq !== 1 || !canHash()) return null;
  const made = hex(await genesis(sealed.event.tenantId));
  return made === sealed.prevHash
    ? { state: 'ok', words: 'the beginning of this tenant, recomputed here' }
    : { state: 'bad', words: 'not the beginning of this tenant' };
}

/** @returns {Promise<Finding & {hash: string}>} */
async function follower(/** @type {Sealed} */ sealed) {
  const { seq } = sealed.event;
  try {
    // Asked for by number, a row that is not there would be a refusal on the record.
    const after = await get('/api/audit/events', { query: { afterSeq: seq, pageSize: 1 } });
    if (after.events[0]?.seq !== seq + 1) return { state: 'none', words: 'not there yet, or not yours to see', hash: '' };
    const next = await get(`/api/audit/events/${seq + 1}`);
    return next.prevHash === sealed.hash
      ? { state: 'ok', words: 'names this row\'s hash', hash: next.hash }
      : { state: 'bad', words: 'does not name this row\'s hash', hash: next.hash };
  } catch {
    return { state: 'none', words: 'could not be read', hash: '' };
  }
}

/** @returns {Finding} */
function shownFields(/** @type {Sealed} */ sealed, /** @type {{fields: import('./canonical.js').Field[]}|{fault: string}} */ decoded) {
  if ('fault' in decoded) return { state: 'bad', words: decoded.fault };
  const wrong = differences(decoded.fields, sealed.event);
  return wrong.length === 0
    ? { state: 'ok', words: 'every field shown is what the bytes say' }
    : { state: 'bad', words: `shown otherwise than the bytes say: ${wrong.join(', ')}` };
}
