// The tokens of this tenant: made, shown once, looked at, revoked. Admins only.
import { html, useState } from '../../html.js';
import { del, get } from '../../api.js';
import { useGet, useMoment } from '../../use.js';
import { toast } from '../../parts/toast.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Confirm } from '../../parts/dialog.js';
import { Empty } from '../../parts/empty.js';
import { Segmented } from '../../parts/field.js';
import { Refusal } from '../../parts/note.js';
import { Table } from '../../parts/table.js';
import { figure } from '../../reading.js';
import { Made } from './made.js';
import { NewToken } from './new-token.js';
import { columns } from './token-columns.js';
import { unused } from './use.js';

/** @typedef {{id: string, name: string, role: string, profile?: string, createdAt: string, expiresAt?: string, revokedAt?: string, lastUsedAt?: string}} Token */

const PAGE = 200;

/** Whether a token still opens anything. @param {Token} token */
const isLive = (token) => !token.revokedAt && !(token.expiresAt && Date.parse(token.expiresAt) < Date.now());

export function Tokens() {
  const { data, error, loading, reload } = useGet('/api/tokens', { query: { pageSize: PAGE }, every: 30000 });
  const moment = useMoment();
  const more = useMore(data);
  const [shown, setShown] = useState('live');
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [leaving, setLeaving] = useState(/** @type {Token | null} */ (null));
  const all = /** @type {Token[] | undefined} */ (data && [...data.tokens, ...more.tokens]);
  const live = all?.filter(isLive);
  const rows = shown === 'live' ? live : all;
  const revoke = async () => {
    const token = /** @type {Token} */ (leaving);
    await del(`/api/tokens/${encodeURIComponent(token.id)}`);
    if (made?.id === token.id) setMade(null);
    await reload();
  };
  const seg = all && all.length !== live?.length && html`
    <${Segmented} label="Which tokens" value=${shown} onChange=${setShown} options=${[{ value: 'live', label: 'Live' }, { value: 'all', label: 'All' }]} />`;
  if (!data && !error && !moment) return null;
  return html`
    ${made && html`<${Made} made=${made} onDone=${() => setMade(null)} />`}
    ${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    <div class="split two-one">
      <${Card} title="Tokens" note=${live && `${figure(live.length)} live`} actions=${seg} flush
        foot=${more.token && html`<${Button} small busy=${more.busy} onClick=${more.load}>Show more<//>`}>
        <${Table} label="Tokens" columns=${columns(setLeaving, unused(all))} rows=${rows} rowKey="id" loading=${loading}
          rowClass=${(/** @type {Token} */ token) => (isLive(token) ? undefined : 'spent')}
          empty=${html`<${Empty} icon="key" title="No tokens yet" text="An agent, a script or a service asks with a token. Make the first one beside this list." />`} />
      <//>
      <${NewToken} onMade=${(/** @type {any} */ token) => { setMade(token); reload(); }} />
    </div>
    ${leaving && html`
      <${Confirm} title=${`Revoke ${leaving.name}?`} confirmLabel="Revoke token" onConfirm=${revoke} onClose=${() => setLeaving(null)}
        consequences=${['Calls with this token answer 401, everywhere within 5 seconds; it cannot be brought back.', 'Sessions that came of its sign-in links end with it.', 'What it asked stays on the record.']} />`}`;
}

/** The pages of the list after the first. @param {any} first */
function useMore(first) {
  const [rest, setRest] = useState(/** @type {{tokens: Token[], token?: string}} */ ({ tokens: [] }));
  const [busy, setBusy] = useState(false);
  const token = rest.token ?? first?.nextPageToken;
  const load = async () => {
    setBusy(true);
    try {
      const page = await get('/api/tokens', { query: { pageSize: PAGE, pageToken: token } });
      setRest({ tokens: [...rest.tokens, ...page.tokens], token: page.nextPageToken ?? '' });
    } catch (error) {
      toast({ state: 'bad', title: 'No more tokens could be read', text: /** @type {Error} */ (error).message });
    }
    setBusy(false);
  };
  return { tokens: rest.tokens, token, busy, load };
}
