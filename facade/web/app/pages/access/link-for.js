// Whom a sign-in link may be for: oneself, and the holder of each live token of a person's role.
//
// Pure: no request, no page.

/** @typedef {{id: string, name: string, role: string, expiresAt?: string, revokedAt?: string}} Token */

/**
 * The choices, oneself first. Agents have none: the pages are for people.
 * @param {Token[]} tokens
 * @param {number} now
 * @param {boolean} [own] whether there may be one for oneself: not for whom a provider vouched, whose word a link would outlast
 * @returns {{value: string, label: string}[]}
 */
export function options(tokens, now, own = true) {
  const isLive = (/** @type {Token} */ token) => !token.revokedAt && !(token.expiresAt && Date.parse(token.expiresAt) <= now);
  const people = tokens.filter((token) => token.role !== 'agent' && isLive(token));
  const oneself = own ? [{ value: '', label: 'for me' }] : [];
  return [...oneself, ...people.map(({ id, name, role }) => ({ value: id, label: `for ${name} (${role})` }))];
}
