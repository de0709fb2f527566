// The relay of a host or project: whose key it is, how far it is, and how to be rid of it.

import { html, useState } from '../../html.js';
import { del } from '../../api.js';
import { may } from '../../session.js';
import { Link } from '../../router.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Confirm } from '../../parts/dialog.js';
import { KeyValue } from '../../parts/kv.js';
import { Note } from '../../parts/note.js';
import { Ago, Duration } from '../../parts/time.js';
import { pathOf } from './change.js';
import { drop } from './enrolments.js';

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./target.js').Relay} Relay */

/** What is lost with a relay's key. @param {Target} target */
const consequences = (target) => [
  `The relay of ${target.name} is disconnected now and its key forgotten; calls answer ${target.type === 'project' ? 'PROJECT_OFFLINE' : 'RELAY_OFFLINE'}.`,
  'It comes back only with a new token, which you make here.',
  'Calls that are under way end as lost.',
];

/** @param {{target: Target, relay: Relay, onChanged: () => void}} props */
export function RelayCard({ target, relay, onChanged }) {
  const [asking, setAsking] = useState(false);
  const state = relay.mismatch ? 'bad' : relay.state === 'live' ? 'ok' : 'idle';
  const revoke = async () => {
    await del(`${pathOf(target.id)}/relay`);
    drop(target.id);
    onChanged();
  };
  /** @type {[string, any][]} */
  const rows = [
    ['State', html`<${Badge} state=${state}>${relay.mismatch ? 'another key answers' : relay.state}<//>`],
    ...(relay.why ? [/** @type {[string, any]} */ (['Why', relay.why])] : []),
    ['Round trip', relay.latencyMs === undefined ? '–' : html`<${Duration} ms=${relay.latencyMs} />`],
    ['Last heard', relay.lastSeen ? html`<${Ago} at=${relay.lastSeen} />` : 'not since the gateway started'],
    ['Pinned key', relay.pinnedKey ? html`<code class="break">${relay.pinnedKey}</code>` : 'none has enrolled'],
    ['Live key', relay.liveKey ? html`<code class=${relay.mismatch ? 'bad break' : 'break'}>${relay.liveKey}</code>` : 'not seen'],
    ...(relay.version ? [/** @type {[string, any]} */ (['Version', relay.version])] : []),
  ];
  return html`<${Card} title="Relay" foot=${may('change') && relay.pinnedKey && html`<${Button} kind="danger" small onClick=${() => setAsking(true)}>Revoke relay<//>`}>
      ${relay.mismatch && html`<${Note} state="bad" title="Another key answers for it."><p>No call reaches it. <${Link} href="/fleet">Compare the keys in Fleet.<//></p><//>`}
      <${KeyValue} rows=${rows} />
    <${Confirm} open=${asking} title=${`Revoke the relay of ${target.name}?`} consequences=${consequences(target)} confirmLabel="Revoke relay"
      onConfirm=${revoke} onClose=${() => setAsking(false)} />
  <//>`;
}
