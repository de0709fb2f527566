// Who looks, and what that role may do. The cookie itself no script can read.
import { signal } from './html.js';
import { get, post, del, setCsrf } from './api.js';
import { dropKept, keep } from './use.js';

/**
 * @typedef {{tenantId: string, tenantName?: string, principal: string, role: string, profile?: string, usesTools: boolean,
 *   csrfToken: string, expiresAt?: string, method?: string}} Me
 */

/** Begins the names under which the calls made from this browser are kept. */
export const CALLS = 'toolgate.calls.';

/** Who is signed in; null where nobody is. */
export const me = signal(/** @type {Me | null} */ (null));

/** @type {Record<string, string[]>} */
const ROLES = {
  change: ['admin'],
  call: ['admin', 'engineer'],
  test: ['admin', 'engineer'],
  'read-record': ['admin', 'auditor'],
};

/** Whether the role may. @param {'change' | 'call' | 'test' | 'read-record'} action */
export const may = (action) => ROLES[action]?.includes(me.value?.role ?? '') ?? false;

/** @param {Me | null} session */
function take(session) {
  setCsrf(session?.csrfToken ?? '');
  me.value = session;
  keep('toolgate.in', session ? 'yes' : 'no');
  return session;
}

/** Asks who is signed in. Throws the Problem where nobody is. */
export const loadSession = async () => take(await get('/api/session'));

/** Trades the code of a sign-in link. @param {string} code */
export const signInWith = async (code) => take(await post('/api/session', { code }));

/** Revokes the session and forgets it here. */
export async function signOut() {
  await del('/api/session');
  leaveNothing();
}

/** Forgets the session, which was ended on purpose, and what this browser kept of it: the next one here may be somebody else. */
export function leaveNothing() {
  dropKept(CALLS);
  take(null);
}

/** Forgets the session: the gateway no longer knows it. */
export const forget = () => take(null);
