// What is told of a token in the list.
import { html } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Ago } from '../../parts/time.js';
import { roleText } from './roles.js';

/** @typedef {import('./tokens.js').Token} Token */

/** @param {(token: Token) => void} onRevoke @param {string} none what stands where no use is told @returns {import('../../parts/table.js').Column[]} */
export const columns = (onRevoke, none) => [
  { key: 'name', label: 'Name', render: (/** @type {Token} */ token) => html`<span class="name break">${token.name}</span><span class="sub">${roleText(token)}</span><span class="sub only-narrow">${endsBelow(token)}</span>` },
  { key: 'lastUsedAt', label: 'Last use', render: (/** @type {Token} */ token) => lastUse(token, none) },
  { key: 'createdAt', label: 'Made', className: 'lg dim nowrap', render: (/** @type {Token} */ token) => html`<${Ago} at=${token.createdAt} />` },
  { key: 'expiresAt', label: 'Expires', className: 'md dim nowrap', render: ends },
  { key: 'actions', label: 'Actions', hideLabel: true, className: 'r', render: (/** @type {Token} */ token) => !token.revokedAt && html`
    <${Button} kind="quiet" small aria-label=${`Revoke ${token.name}`} onClick=${() => onRevoke(token)}>Revoke<//>` },
];

const DAY_MS = 86400000;

/** A token nobody uses stands out once it is a week old. @param {Token} token @param {string} none */
function lastUse(token, none) {
  if (token.lastUsedAt) return html`<span class="dim nowrap"><${Ago} at=${token.lastUsedAt} /></span>`;
  const old = none === 'never' && Date.now() - Date.parse(token.createdAt) > 7 * DAY_MS;
  return html`<span class=${old && !token.revokedAt ? 'warn nowrap' : 'faint nowrap'}>${none}</span>`;
}

/** The same where there is no column for it. @param {Token} token */
function endsBelow(token) {
  if (token.revokedAt || (token.expiresAt && Date.parse(token.expiresAt) < Date.now())) return ends(token);
  return token.expiresAt ? html`expires ${ends(token)}` : 'never expires';
}

/** @param {Token} token */
function ends(token) {
  if (token.revokedAt) return html`<${Badge} icon="cross">revoked<//> <${Ago} at=${token.revokedAt} />`;
  if (!token.expiresAt) return 'never';
  const left = Date.parse(token.expiresAt) - Date.now();
  if (left < 0) return html`<${Badge} icon="clock">expired<//> <${Ago} at=${token.expiresAt} />`;
  return html`<span class=${left < 7 * DAY_MS ? 'warn' : undefined}><${Ago} at=${token.expiresAt} /></span>`;
}
