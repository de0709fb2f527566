// Verifies the record through the API and tells how far it is.

import { useCallback, useEffect, useRef, useState } from '../../html.js';
import { ndjson, Problem } from '../../api.js';
import { grouped } from './events.js';
import { lookup } from '../../lookup.js';

/**
 * @typedef {{verdict: string, rows: number, seq: number, message: string, headHash: string, fromSeq: number,
 *   throughSeq: number, checkpoints: number, checkpointSeq: number}} Found
 * @typedef {{
 *   running: boolean, rows: number, of: number, startedAt: number, tookMs: number, found: Found|null,
 *   error: Problem|null, stopped: boolean, at: number,
 * }} Verification
 */

/** @returns {Verification} */
const idle = () => ({ running: false, rows: 0, of: 0, startedAt: 0, tookMs: 0, found: null, error: null, stopped: false, at: 0 });

/** A verification that can be run and stopped. It ends when the page is left. */
export function useVerify() {
  const [state, setState] = useState(idle);
  const control = useRef(/** @type {AbortController|null} */ (null));
  useEffect(() => () => control.current?.abort(), []);

  const run = useCallback(async (/** @type {boolean} */ incremental = false) => {
    control.current?.abort();
    const stop = new AbortController();
    control.current = stop;
    const startedAt = performance.now();
    setState({ ...idle(), running: true, startedAt });
    /** @type {Found|null} */
    let found = null;
    const onLine = (/** @type {any} */ line) => {
      if (line.verdict) found = line;
      else setState((old) => ({ ...old, rows: line.rows, of: line.of, tookMs: performance.now() - startedAt }));
    };
    try {
      await ndjson('/api/audit/verify/stream', { method: 'POST', body: { incremental }, onLine, signal: stop.signal });
      const error = found ? null : new Problem(0, { detail: 'the verification ended without a verdict; run it again' });
      setState({ ...idle(), found, error, tookMs: performance.now() - startedAt, at: Date.now() });
    } catch (error) {
      if (stop.signal.aborted) setState({ ...idle(), stopped: true });
      else setState({ ...idle(), error: error instanceof Problem ? error : new Problem(0, { detail: String(error) }) });
    }
  }, []);

  const stop = useCallback(() => control.current?.abort(), []);
  return { ...state, run, stop };
}

/** @type {Record<string, (seq: number) => string>} the finding as a title */
const TITLES = lookup({
  edited: (seq) => `Row ${seq} was edited`,
  broken_link: (seq) => `Row ${seq} does not follow the row before it`,
  gap: (seq) => `Rows are missing at ${seq}`,
  out_of_order: (seq) => `Row ${seq} stands at another row's place`,
  inserted: (seq) => `Row ${seq} was put in`,
  head_mismatch: (seq) => `The head of the record does not fit row ${seq}`,
  truncated: (seq) => `The record was cut off at ${seq}`,
  chain_missing: () => 'Nothing is left of the record',
  bad_mac: (seq) => `Row ${seq} was not sealed by this gateway`,
  unknown_algorithm: (seq) => `Row ${seq} names an algorithm that is not accepted`,
  fork: (seq) => `Row ${seq} is not the one that was vouched for`,
  bad_signature: (seq) => (seq ? `A checkpoint of row ${seq} is not genuine` : 'A checkpoint is not genuine or missing'),
});

/** What was found, in a few words: an intact record is so up to the row that was looked at. */
export function titleOf(/** @type {{verdict: string, seq: number, throughSeq?: number}} */ found) {
  if (found.verdict === 'intact') return found.throughSeq ? `Intact through row ${grouped(found.throughSeq)}` : 'The record is intact';
  return TITLES[found.verdict]?.(found.seq) ?? `The record is broken at row ${found.seq}: ${found.verdict}`;
}
