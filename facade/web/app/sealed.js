// How far the record is sealed, told alike wherever it is told: the newest answer of any page counts for all of them.
import { signal } from './html.js';

/** @typedef {{seq: number | string, checkpointSeq?: number | string, checkpointAt?: string}} RecordTold */

/** A checkpoint is due every minute while there are rows; later than this it is late. */
const LATE_MS = 150_000;

/**
 * The row that the newest checkpoint seals, how many came since, and whether the next one is late.
 * @param {RecordTold} record @param {number} now
 */
export function sealing({ seq, checkpointSeq, checkpointAt }, now) {
  const sealed = Number(checkpointSeq ?? 0);
  const since = Math.max(0, Number(seq) - sealed);
  return { seq: sealed, since, late: since > 0 && (!checkpointAt || now - Date.parse(checkpointAt) > LATE_MS) };
}

/** What was told last; null where nobody was told. */
const newest = signal(/** @type {RecordTold | null} */ (null));

/** Takes what an answer tells, unless more is known already. @param {RecordTold | null | undefined} record */
export function tell(record) {
  const known = newest.peek();
  if (record && (!known || Number(record.seq) >= Number(known.seq))) newest.value = record;
}

/** Forgets it: the next session may be another tenant's. */
export const forgetSealed = () => { newest.value = null; };

/** The newest that is known. */
export const recordNow = () => newest.value;
