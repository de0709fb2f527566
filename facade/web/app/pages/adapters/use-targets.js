// All targets of the tenant, page by page, and their relays; asked again while the page is looked at.

import { useCallback, useEffect, useState } from '../../html.js';
import { get } from '../../api.js';
import { useGet } from '../../use.js';

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./target.js').Relay} Relay */

/** Targets change when people change them, but one that waits for its relay; what is live of a relay changes by itself. */
const TARGETS_MS = 5000;
const WAITING_MS = 1000;
const RELAYS_MS = 2000;
/** Pages that are followed: 2,000 targets. */
const MOST_PAGES = 10;

/** @param {AbortSignal} signal @returns {Promise<Target[]>} */
async function all(signal) {
  /** @type {Target[]} */
  const targets = [];
  let pageToken = '';
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { pageSize: '200', ...(pageToken && { pageToken }) };
    const answer = await get('/api/mcp/adapter', { query, signal });
    targets.push(...answer.targets);
    pageToken = answer.nextPageToken;
    if (!pageToken) break;
  }
  return targets;
}

/**
 * @param {(targets: Target[]) => boolean} [waits] whether something is awaited that comes any moment
 * @returns {{targets?: Target[], relays: Map<string, Relay>, error?: import('../../api.js').Problem, reload: () => void}}
 *   relays by the id of their target
 */
export function useTargets(waits) {
  const [targets, setTargets] = useState(/** @type {Target[] | undefined} */ (undefined));
  const [error, setError] = useState(/** @type {any} */ (undefined));
  const [round, setRound] = useState(0);
  const relays = useGet('/api/fleet/relays', { every: RELAYS_MS });

  useEffect(() => {
    const stop = new AbortController();
    /** @type {number | undefined} */
    let timer;
    let pause = TARGETS_MS;
    const ask = async () => {
      if (!document.hidden) {
        try {
          const now = await all(stop.signal);
          setTargets(now);
          pause = waits?.(now) ? WAITING_MS : TARGETS_MS;
          setError(undefined);
        } catch (problem) {
          if (!stop.signal.aborted) setError(problem);
        }
      }
      if (!stop.signal.aborted) timer = setTimeout(ask, pause);
    };
    ask();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [round]);

  const reload = useCallback(() => setRound((n) => n + 1), []);
  /** @type {Relay[]} */
  const known = relays.data?.relays ?? [];
  // Both at once, so that no card grows after it was drawn.
  const heard = relays.data || relays.error;
  return { targets: heard ? targets : undefined, relays: new Map(known.map((relay) => [relay.targetId, relay])), error, reload };
}
