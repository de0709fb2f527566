// Waits for the first call, or the first knock, of a token that was just made.

import { html } from '../../html.js';
import { Link } from '../../router.js';
import { useGet } from '../../use.js';
import { Badge } from '../../parts/badge.js';
import { Ago } from '../../parts/time.js';

/** @param {{id: string, name: string}} props */
export function Heard({ id, name }) {
  const calls = useGet('/api/audit/events', { query: { principal: name, pageSize: 1 }, every: 2000 }).data?.events ?? [];
  const tokens = useGet('/api/tokens', { query: { pageSize: 200 }, every: 2000 }).data?.tokens ?? [];
  const used = tokens.find((/** @type {any} */ token) => token.id === id)?.lastUsedAt;
  const call = calls[0];
  return html`<p role="status" class="row tight small">
    ${call ? html`<${Badge} state="ok" icon="check">called<//><span>its first row is <${Link} href=${`/audit?principal=${encodeURIComponent(name)}`}>on the record<//>, <${Ago} at=${call.time} /></span>`
      : used ? html`<${Badge} state="ok" icon="check">connected<//><span>it listed its tools <${Ago} at=${used} />; ask the agent something</span>`
        : html`<${Badge} state="live">waiting<//><span>for the client to connect</span>`}</p>`;
}
