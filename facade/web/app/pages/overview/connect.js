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
import { Ago } from '../../parts/time.js';
import { SPANS, USUAL } from '../access/expiry.js';
import { Heard } from './heard.js';
import { CLIENTS, clientOf, endpoint } from './clients.js';
import { asked, useToken } from './token.js';

/** What stands where a token is not there yet. */
const PLACEHOLDER = 'tgk_YOUR_TOKEN';

/** @param {{id: string}} props the client's id, from the address */
export function Connect({ id }) {
  const client = /** @type {import('./clients.js').Client} */ (clientOf(id));
  const [profile, setProfile] = useState('');
  const [days, setDays] = useState(USUAL);
  const token = useToken();
  const given = {
    origin: location.origin, mcp: endpoint(location.origin, token.made ? '' : profile), profile: token.made ? '' : profile,
    token: token.made?.token ?? PLACEHOLDER,
  };
  const wish = { client, profile, days };
  return html`<${Page} title="Connect an agent" crumb=${html`<${Link} href="/">Overview<//>`}
      lead="A configuration to paste, in the client's own format. What the agent sees is its catalog; what it calls is checked, limited and put on the record."
      actions=${may('change') && html`<${CopyButton} text=${() => curl('POST', '/api/tokens', asked(wish))} small=${false}>Copy as curl<//>`}>
    <${Tabs} label="Clients" current=${client.id} tabs=${CLIENTS.map((c) => ({ id: c.id, label: c.label, href: `/?connect=${c.id}` }))} />
    <div class="split form connect">
      <div class="stack">${client.pieces(given).map((piece) => html`<section class="stack tight" key=${client.id + piece.label}>
          <h2>${piece.label}</h2><p class="small dim">${piece.where}</p>
          <${Code} text=${piece.text} label=${piece.label} head=${`${client.short}, ${piece.label}`} wrap /></section>`)}
        <p class="dim">${client.then}</p></div>
      <${TokenCard} wish=${wish} token=${token} setProfile=${setProfile} setDays=${setDays} />
    </div><//>`;
}

/** @param {{wish: import('./token.js').Wish, token: ReturnType<typeof useToken>, setProfile: (name: string) => void, setDays: (days: string) => void}} props */
function TokenCard({ wish, token, setProfile, setDays }) {
  const make = () => token.make(wish);
  if (token.made) return html`<${Made} made=${token.made} client=${wish.client} token=${token} make=${make} />`;
  if (!may('change')) {
    return html`<${Card} title="Token"><p class="dim">Tokens are made by admins. Ask one for a token of role agent and put it in the place of <code>${PLACEHOLDER}</code>.</p><//>`;
  }
  return html`<${Card} title="Token">
    <p class="dim">The configuration still says <code>${PLACEHOLDER}</code>. One click makes a token of role agent and puts it in; it is shown this once.</p>
    <${Profile} value=${wish.profile} onChange=${setProfile} />
    <${Field} label="Expires" help="After that its calls are refused; make another then.">${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`
      <${Select} id=${id} describedBy=${describedBy} value=${wish.days} options=${SPANS} onChange=${setDays} />`}<//>
    ${token.problem && html`<${Refusal} problem=${token.problem} />`}
    <div><${Button} kind="primary" icon="key" busy=${token.busy} onClick=${make}>Make the token<//></div><//>`;
}

function Profile(/** @type {{value: string, onChange: (name: string) => void}} */ { value, onChange }) {
  const { data } = useGet('/api/profiles');
  const names = (data?.profiles ?? []).map((/** @type {any} */ p) => p.name);
  const options = [{ value: '', label: 'All tools of its role' }, ...names.map((/** @type {string} */ name) => ({ value: name, label: name }))];
  return html`<${Field} label="Profile" help="Pinned on the token: no client can widen it.">${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`
    <${Select} id=${id} describedBy=${describedBy} value=${value} options=${options} onChange=${onChange} />`}<//>`;
}

/** @param {{made: import('./token.js').Made, client: import('./clients.js').Client, token: ReturnType<typeof useToken>, make: () => void}} props */
function Made({ made, client, token, make }) {
  return html`<${Card} title="Token" actions=${html`<${Button} kind="quiet" small onClick=${token.forget}>Forget it<//>`}>
    ${made.client !== client.id && html`<${Note} state="accent" title=${`This one is ${made.name}'s.`}
      action=${html`<${Button} small icon="key" busy=${token.busy} onClick=${make}>Make another for ${client.short}<//>`}>
      <span>It was made for ${clientOf(made.client)?.short}, and what ${client.short} does with it stands on the record as ${made.name}. Another takes its place here: copy this one first.</span><//>`}
    ${token.problem && html`<${Refusal} problem=${token.problem} />`}
    <${Note} state="ok" title="Made and put in."><span>It is shown this once: copy the configuration before you leave this page.</span><//>
    <${Code} text=${made.token} label=${`Token ${made.name}`} head=${made.name} wrap />
    <${Heard} name=${made.name} id=${made.id} />
    <p class="small faint">${made.expiresAt ? html`It ends <${Ago} at=${made.expiresAt} />. ` : 'It never ends. '}Revoke it under <${Link} href="/access">Access<//> when the client is gone.</p><//>`;
}
