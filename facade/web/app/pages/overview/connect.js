// Connects an agent: a configuration in the client's own format, with this gateway's address and a token made for it.

import { html, useState } from '../../html.js';
import { Link } from '../../router.js';
import { curl } from '../../api.js';
import { may } from '../../session.js';
import { useGet } from '../../use.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code, CopyButton } from '../../parts/code.js';
import { Field, Select } from '../../parts/field.js';
import { Note, Refusal } from '../../parts/note.js';
import { Page } from '../../parts/page.js';
import { Tabs } from '../../parts/tabs.js';
import { Heard } from './heard.js';
import { CLIENTS, clientOf, endpoint } from './clients.js';
import { useToken } from './token.js';

/** What stands where a token is not there yet. */
const PLACEHOLDER = 'tgk_YOUR_TOKEN';

/** @param {{id: string}} props the client's id, from the address */
export function Connect({ id }) {
  const client = /** @type {import('./clients.js').Client} */ (clientOf(id));
  const [profile, setProfile] = useState('');
  const token = useToken();
  const given = {
    origin: location.origin, mcp: endpoint(location.origin, token.made ? '' : profile), profile: token.made ? '' : profile,
    token: token.made?.token ?? PLACEHOLDER,
  };
  const asked = curl('POST', '/api/tokens', { name: client.tokenName, role: 'agent', ...(profile ? { profile } : {}) });
  return html`<${Page} title="Connect an agent" crumb=${html`<${Link} href="/">Overview<//>`}
      lead="A configuration to paste, in the client's own format. What the agent sees is its catalog; what it calls is checked, limited and put on the record."
      actions=${may('change') && html`<${CopyButton} text=${asked} small=${false}>Copy as curl<//>`}>
    <${Tabs} label="Clients" current=${client.id} tabs=${CLIENTS.map((c) => ({ id: c.id, label: c.label, href: `/?connect=${c.id}` }))} />
    <div class="split form connect">
      <div class="stack">${client.pieces(given).map((piece) => html`<section class="stack tight" key=${client.id + piece.label}>
          <h2>${piece.label}</h2><p class="small dim">${piece.where}</p>
          <${Code} text=${piece.text} label=${piece.label} head=${`${client.short}, ${piece.label}`} wrap /></section>`)}
        <p class="dim">${client.then}</p></div>
      <${TokenCard} client=${client} token=${token} profile=${profile} setProfile=${setProfile} />
    </div><//>`;
}

/** @param {{client: import('./clients.js').Client, token: ReturnType<typeof useToken>, profile: string, setProfile: (name: string) => void}} props */
function TokenCard({ client, token, profile, setProfile }) {
  if (token.made) return html`<${Made} made=${token.made} forget=${token.forget} />`;
  if (!may('change')) {
    return html`<${Card} title="Token"><p class="dim">Tokens are made by admins. Ask one for a token of role agent and put it in the place of <code>${PLACEHOLDER}</code>.</p><//>`;
  }
  return html`<${Card} title="Token">
    <p class="dim">The configuration still says <code>${PLACEHOLDER}</code>. One click makes a token of role agent and puts it in; it is shown this once.</p>
    <${Profile} value=${profile} onChange=${setProfile} />
    ${token.problem && html`<${Refusal} problem=${token.problem} />`}
    <div><${Button} kind="primary" icon="key" busy=${token.busy} onClick=${() => token.make(client.tokenName, profile)}>Make the token<//></div><//>`;
}

function Profile(/** @type {{value: string, onChange: (name: string) => void}} */ { value, onChange }) {
  const { data } = useGet('/api/profiles');
  const names = (data?.profiles ?? []).map((/** @type {any} */ p) => p.name);
  const options = [{ value: '', label: 'All tools of its role' }, ...names.map((/** @type {string} */ name) => ({ value: name, label: name }))];
  return html`<${Field} label="Profile" help="Pinned on the token: no client can widen it.">${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`
    <${Select} id=${id} describedBy=${describedBy} value=${value} options=${options} onChange=${onChange} />`}<//>`;
}

/** @param {{made: import('./token.js').Made, forget: () => void}} props */
function Made({ made, forget }) {
  return html`<${Card} title="Token" actions=${html`<${Button} kind="quiet" small onClick=${forget}>Forget it<//>`}>
    <${Note} state="ok" title="Made and put in."><span>It is shown this once: copy the configuration before you leave this page.</span><//>
    <${Code} text=${made.token} label=${`Token ${made.name}`} head=${made.name} wrap />
    <${Heard} name=${made.name} id=${made.id} />
    <p class="small faint">Revoke it under <${Link} href="/access">Access<//> when the client is gone.</p><//>`;
}
