// Makes the token that a configuration carries: role agent, with an end, shown once, nowhere kept.

import { useCallback, useState } from '../../html.js';
import { get, post, Problem } from '../../api.js';
import { endOf } from '../access/expiry.js';

/**
 * @typedef {{id: string, token: string, name: string, expiresAt?: string, client: string}} Made client: the id of the client it is for
 * @typedef {{client: import('./clients.js').Client, profile: string, days: string}} Wish
 */

/** A token that can be made once. Leaving the page forgets it. */
export function useToken() {
  const [made, setMade] = useState(/** @type {Made|null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {Problem|null} */ (null));
  const make = useCallback(async (/** @type {Wish} */ wish) => {
    setBusy(true);
    setProblem(null);
    try {
      const token = await post('/api/tokens', { ...asked(wish), name: await free(wish.client.tokenName) });
      setMade({ ...token, client: wish.client.id });
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(0, { detail: String(error) }));
    } finally {
      setBusy(false);
    }
  }, []);
  const forget = useCallback(() => setMade(null), []);
  return { made, busy, problem, make, forget };
}

/** What is asked of the gateway, but that the name may be taken. */
export const asked = (/** @type {Wish} */ { client, profile, days }) =>
  ({ name: client.tokenName, role: 'agent', ...(profile ? { profile } : {}), ...endOf(days, Date.now()) });

/** The wished name, or with the first number that is free: names of live tokens are unique. */
async function free(/** @type {string} */ wish) {
  const { tokens } = await get('/api/tokens', { query: { pageSize: 200 } });
  const taken = new Set(tokens.filter((/** @type {any} */ t) => !t.revokedAt).map((/** @type {any} */ t) => t.name));
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? wish : `${wish}-${n}`;
    if (!taken.has(name)) return name;
  }
}
