// Who is signed in to these pages, and ending it.
import { html, useState } from '../../html.js';
import { del } from '../../api.js';
import { leaveNothing, may, me } from '../../session.js';
import { go } from '../../router.js';
import { useGet, useMoment } from '../../use.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Confirm } from '../../parts/dialog.js';
import { Empty } from '../../parts/empty.js';
import { Refusal } from '../../parts/note.js';
import { Table } from '../../parts/table.js';
import { Ago } from '../../parts/time.js';
import { METHODS } from './methods.js';
import { unused } from './use.js';
import { SignInLink } from './sign-in-link.js';

/** @typedef {{id: string, principal: string, role: string, method: string, createdAt: string, lastUsedAt?: string, expiresAt: string, current?: boolean}} Session */

/** Who came by a provider makes no link for themselves, which would outlast its word; admins make them for others. */
const mayLink = () => may('change') || me.value?.method !== 'oidc';

export function Sessions() {
  const { data, error, loading, reload } = useGet('/api/sessions', { every: 30000 });
  const moment = useMoment();
  const [ending, setEnding] = useState(/** @type {Session | null} */ (null));
  const end = async () => {
    const session = /** @type {Session} */ (ending);
    await del(`/api/sessions/${encodeURIComponent(session.id)}`);
    if (session.current) {
      leaveNothing();
      go('/sign-in');
      return;
    }
    await reload();
  };
  if (!data && !error && !moment) return null;
  return html`
    ${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    <div class=${mayLink() ? 'split two-one' : 'stack'}>
      <${Card} title="Sessions" note=${may('change') ? 'of everybody in this tenant' : 'yours'} flush>
        <${Table} label="Sessions" columns=${columns(setEnding, unused(data?.sessions))} rows=${data?.sessions} rowKey="id" loading=${loading}
          empty=${html`<${Empty} icon="key" title="No session is open" text="Whoever signs in to these pages stands here until the session ends." />`} />
      <//>
      ${mayLink() && html`<${SignInLink} />`}
    </div>
    ${ending && html`
      <${Confirm} title=${ending.current ? 'End this session?' : `End the session of ${ending.principal}?`} confirmLabel="End session" onConfirm=${end} onClose=${() => setEnding(null)}
        consequences=${[ending.current ? 'This browser is signed out at once.' : 'That browser is signed out with its next request.', 'Calls that run go on until they are settled; tokens are not touched.']} />`}`;
}

/** @param {(session: Session) => void} onEnd @param {string} none what stands where no use is told @returns {import('../../parts/table.js').Column[]} */
const columns = (onEnd, none) => [
  { key: 'principal', label: 'Who', render: (/** @type {Session} */ session) => html`<span class="name break">${session.principal}</span> ${session.current && html`<${Badge} state="accent">this browser<//>`}<span class="sub">${session.role}</span><span class="sub only-narrow">ends <${Ago} at=${session.expiresAt} /></span>` },
  { key: 'method', label: 'By', className: 'lg dim', render: (/** @type {Session} */ session) => METHODS[session.method] ?? session.method },
  { key: 'createdAt', label: 'Signed in', className: 'lg dim nowrap', render: (/** @type {Session} */ session) => html`<${Ago} at=${session.createdAt} />` },
  { key: 'lastUsedAt', label: 'Last use', className: 'dim nowrap', render: (/** @type {Session} */ session) => html`<${Ago} at=${session.lastUsedAt} never=${none} />` },
  { key: 'expiresAt', label: 'Ends', className: 'md dim nowrap', render: (/** @type {Session} */ session) => html`<${Ago} at=${session.expiresAt} />` },
  { key: 'actions', label: 'Actions', hideLabel: true, className: 'r', render: (/** @type {Session} */ session) => html`
    <${Button} kind="quiet" small aria-label=${`End the session of ${session.principal}${session.current ? ' in this browser' : ''}`} disabled=${session.principal !== me.value?.principal && !may('change')} onClick=${() => onEnd(session)}>End<//>` },
];
