// Follows a row to the next signed checkpoint: every row between is hashed here, and the checkpoint's signature checked.
//
// The rows come from the export, the checkpoint from the checkpoints of the API; for the latter the gateway signs once more,
// so there is always one. Bounded: a checkpoint comes at least every thousand rows and some.

import { ndjson } from '../../api.js';
import { rooted, signedBy } from './checkpoint.js';
import { hex, rowHash, unbase64, unhex } from './hash.js';

/** Rows that are followed at most; a gateway signs after a thousand. */
const MOST = 5000;

/**
 * @typedef {import('./proof.js').Sealed} Sealed
 * @typedef {import('./checkpoint.js').Key} Key
 * @typedef {import('./checkpoint.js').Checkpoint} Checkpoint
 * @typedef {{ok: boolean, words: string, rows: number, checkpoint: Checkpoint|null, root: string}} Followed
 */

/** @returns {Promise<Followed>} */
export async function follow(/** @type {Sealed} */ sealed, /** @type {AbortSignal} */ signal) {
  const { keys, checkpoint } = await nextCheckpoint(sealed.event.seq, signal);
  const root = keys[0] ? `${keys[0].keyId}:${keys[0].publicKey}` : '';
  const found = (/** @type {boolean} */ ok, /** @type {string} */ words, rows = 0) => ({ ok, words, rows, checkpoint, root });
  if (!checkpoint) return found(false, 'no checkpoint of this row or a later one was told');
  if (checkpoint.seq - sealed.event.seq > MOST) return found(false, `the next checkpoint is ${checkpoint.seq - sealed.event.seq} rows on, too far to follow here`);
  const end = await lastHash(sealed, checkpoint.seq, signal);
  if (end.fault) return found(false, end.fault, end.rows);
  if (end.hash !== checkpoint.hash) return found(false, `row ${checkpoint.seq} has another hash than its checkpoint`, end.rows);
  const key = keys.find((each) => each.keyId === checkpoint.keyId);
  if (!key || !(await rooted(keys))) return found(false, 'the keys of the checkpoints do not vouch for one another', end.rows);
  if (!(await signedBy(checkpoint, key))) return found(false, 'the signature of the checkpoint is not genuine', end.rows);
  return found(true, '', end.rows);
}

/** The keys, and the first checkpoint that covers `seq`. */
async function nextCheckpoint(/** @type {number} */ seq, /** @type {AbortSignal} */ signal) {
  /** @type {Key[]} */
  const keys = [];
  /** @type {Checkpoint|null} */
  let checkpoint = null;
  await ndjson('/api/audit/checkpoints', {
    query: { afterSeq: seq - 1 },
    signal,
    onLine: (line) => {
      if (line.type === 'key') keys.push(line);
      else if (line.type === 'checkpoint' && line.seq >= seq) checkpoint ??= line;
    },
  });
  return { keys, checkpoint: /** @type {Checkpoint|null} */ (checkpoint) };
}

/** The hash of row `through`, with each row from this one on hashed over the one before. */
async function lastHash(/** @type {Sealed} */ sealed, /** @type {number} */ through, /** @type {AbortSignal} */ signal) {
  const lines = await linesTo(sealed.event.seq - 1, through, signal);
  let prev = sealed.prevHash;
  let seq = sealed.event.seq;
  for (const line of lines) {
    if (line.seq !== seq) return { fault: `row ${seq} is missing`, hash: '', rows: seq - sealed.event.seq };
    const { tenantId, algorithm } = line;
    const made = hex(await rowHash({ tenantId, algorithm, seq, prev: unhex(prev), bytes: unbase64(line.bytes) }));
    if (made !== line.hash) return { fault: `row ${seq} does not hash to what is stored over the row before it`, hash: '', rows: seq - sealed.event.seq };
    if (seq === sealed.event.seq && made !== sealed.hash) return { fault: 'the export holds another row at this place', hash: '', rows: 0 };
    prev = made;
    seq += 1;
  }
  return { fault: lines.length ? '' : 'the export holds no such row', hash: prev, rows: lines.length };
}

/** The lines of the export after `after`, up to `through`; the rest is not read. @returns {Promise<any[]>} */
async function linesTo(/** @type {number} */ after, /** @type {number} */ through, /** @type {AbortSignal} */ signal) {
  const enough = new AbortController();
  /** @type {any[]} */
  const lines = [];
  try {
    await ndjson('/api/audit/export', {
      query: { afterSeq: after },
      signal: AbortSignal.any([signal, enough.signal]),
      onLine: (line) => {
        if (line.seq <= through) lines.push(line);
        if (line.seq >= through) enough.abort();
      },
    });
  } catch (error) {
    if (!enough.signal.aborted) throw error;
  }
  return lines;
}
