// Which live tokens pin a profile. Only admins see tokens; for others this is unknown.
import { may } from '../../session.js';
import { useGet } from '../../use.js';

/**
 * @typedef {{id: string, name: string, role: string, profile?: string, expiresAt?: string, revokedAt?: string, lastUsedAt?: string}} Token
 */

/** @returns {{tokens: Token[]|null, more: boolean, waiting: boolean}} null while unknown; waiting: it will soon be known */
export function useTokens() {
  const { data, error } = useGet(may('change') ? '/api/tokens' : null, { query: { pageSize: 200 } });
  return { tokens: data ? data.tokens.filter(live) : null, more: Boolean(data?.nextPageToken), waiting: may('change') && !data && !error };
}

/** @param {Token} token */
function live(token) {
  return !token.revokedAt && !(token.expiresAt && Date.parse(token.expiresAt) < Date.now());
}

/** @param {Token[]} tokens @param {string} profile `all` for those without one */
export const pinnedTo = (tokens, profile) => tokens.filter((token) => (token.profile ?? 'all') === profile);
