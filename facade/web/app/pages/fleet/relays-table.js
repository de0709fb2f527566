// Whose relays they are: the key that was pinned at enrolment, against the one that answers now.

import { html, useState } from '../../html.js';
import { go, Link } from '../../router.js';
import { may } from '../../session.js';
import { Dot, State } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Note } from '../../parts/note.js';
import { Table } from '../../parts/table.js';
import { Ago, Duration } from '../../parts/time.js';
import { shortKey } from '../adapters/target.js';
import { Repin } from './repin.js';
import { standing } from './project.js';

/** @typedef {import('./project.js').Relay} Relay */

/** @param {{relay: Relay}} props */
function Name({ relay }) {
  const { word, shade } = standing(relay);
  return html`<span class="state"><${Dot} state=${shade} />
    <span><${Link} class="rowlink name" href=${`/adapters/${relay.targetId}`}>${relay.name}<//><span class="sub">${relay.builtIn ? 'this gateway’s own host' : relay.kind}, ${word}</span></span></span>`;
}

/** @param {{relay: Relay}} props */
function Live({ relay }) {
  if (relay.mismatch) return html`<code class="bad" title=${relay.liveKey}>${shortKey(relay.liveKey)}</code>`;
  if (!relay.liveKey) return html`<span class="faint">not seen</span>`;
  return html`<span title=${relay.liveKey}><${State} state="ok">same<//></span>`;
}

/** What is said below a row: that somebody else proves a key for it. @param {Relay} relay @param {(relay: Relay) => void} onCompare */
function below(relay, onCompare) {
  if (relay.mismatch) {
    const action = may('change') &&
      html`<${Button} small onClick=${() => onCompare(relay)}>Compare and re-pin<//><${Button} small kind="danger" href=${`/adapters/${relay.targetId}`}>Revoke relay<//>`;
    return html`<${Note} state="bad" title=${`Another key answers for ${relay.name}.`} action=${action}>
      A relay with an unknown key dials in and is kept out; no call reaches it. If its host was rebuilt, pin the new key. If not, treat it as copied.
    <//>`;
  }
  if (!relay.keptOutKey) return undefined;
  return html`<${Note} state="warn" title="Somebody else tried.">
    A relay with the key <code title=${relay.keptOutKey}>${shortKey(relay.keptOutKey)}</code> was kept out${relay.keptOutAt && html` <${Ago} at=${relay.keptOutAt} />`}. The pinned relay is not touched.
  <//>`;
}

/** @param {{relays: Relay[], reload: () => void}} props */
export function RelaysTable({ relays, reload }) {
  const [comparing, setComparing] = useState(/** @type {Relay | undefined} */ (undefined));
  /** @type {import('../../parts/table.js').Column[]} */
  const columns = [
    { key: 'name', label: 'Relay', render: (relay) => html`<${Name} relay=${relay} />` },
    {
      key: 'latency', label: 'Round trip', className: 'num md',
      render: ({ state, mismatch, latencyMs }) => (mismatch ? html`<code class="bad">kept out</code>` : html`<code class="dim">${state === 'live' ? html`<${Duration} ms=${latencyMs} />` : '–'}</code>`),
    },
    { key: 'since', label: 'Connected', className: 'num lg dim', render: ({ connectedSince }) => html`<${Ago} at=${connectedSince} never="–" />` },
    { key: 'pinned', label: 'Pinned', className: 'sm', render: ({ pinnedKey }) => (pinnedKey ? html`<code class="dim" title=${pinnedKey}>${shortKey(pinnedKey)}</code>` : html`<span class="faint">none yet</span>`) },
    { key: 'live', label: 'Live', render: (relay) => html`<${Live} relay=${relay} />` },
  ];
  return html`<${Card} title="Relay identity" note="pinned at enrolment, against the key that answers now" flush>
    <${Table} label="Relays" columns=${columns} rows=${relays} rowKey="targetId" onOpen=${(/** @type {Relay} */ { targetId }) => go(`/adapters/${targetId}`)} detail=${(/** @type {Relay} */ relay) => below(relay, setComparing)} />
    ${comparing && html`<${Repin} relay=${comparing} onClose=${() => setComparing(undefined)} onPinned=${reload} />`}
  <//>`;
}
