// The targets with their health and last test, worst first.

import { html } from '../../html.js';
import { Link } from '../../router.js';
import { Dot } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Empty } from '../../parts/empty.js';
import { Refusal } from '../../parts/note.js';
import { Table } from '../../parts/table.js';
import { Ago, Duration } from '../../parts/time.js';
import { go } from '../../router.js';
import { may } from '../../session.js';
import { addressOf, kindOf, took, worstFirst } from './health.js';

const MOST = 8;

/** @param {{targets: any, relays: any}} props what `useGet` knows of the targets, and of the relays */
export function Targets({ targets, relays }) {
  const all = targets.data?.targets;
  const links = new Map((relays.data?.relays ?? []).map((/** @type {any} */ relay) => [relay.targetId, relay]));
  const rows = all && worstFirst(all, links);
  const note = rows?.length ? `${rows.length} configured, worst first` : undefined;
  const actions = html`<${Button} kind="quiet" small href="/adapters">All adapters<//>`;
  return html`<${Card} title="Targets" note=${note} actions=${actions} flush>
    ${targets.error && !rows ? html`<div class="card-body"><${Refusal} problem=${targets.error} onRetry=${targets.reload} /></div>`
    : html`<${Table} label="Targets" columns=${COLUMNS} rows=${rows?.slice(0, MOST)} rowKey=${(/** @type {any} */ row) => row.target.id}
        loading=${targets.loading} empty=${html`<${None} />`} onOpen=${(/** @type {any} */ row) => go(`/adapters/${row.target.id}`)} />`}<//>`;
}

const None = () => html`<${Empty} icon="adapters" title="No target yet" text="A target is a system that agents may ask: a host, a cluster, a forge.">
  ${may('change') && html`<${Button} kind="primary" href="/adapters/new">Add a target<//>`}<//>`;

const COLUMNS = [
  { key: 'target', label: 'Target', render: (/** @type {any} */ { target, health }) => html`<span class="state"><${Dot} state=${health.state} /><span>
    <${Link} class="rowlink name" href=${`/adapters/${target.id}`}>${target.name}<//><span class="sub only-narrow">${health.words}</span></span></span>` },
  { key: 'kind', label: 'Kind', className: 'md', render: (/** @type {any} */ { target }) => html`<span class="dim nowrap">${kindOf(target.type)}</span>` },
  { key: 'address', label: 'Address', className: 'lg', render: (/** @type {any} */ { target }) => html`<code class="faint break">${addressOf(target)}</code>` },
  { key: 'health', label: 'Health', className: 'md', render: (/** @type {any} */ { health }) => html`<span class=${TONES[/** @type {'ok'} */ (health.state)]}>${health.words}</span>` },
  { key: 'test', label: 'Last test', render: (/** @type {any} */ { target, relay }) => html`<span class="dim nowrap"><${Ago} at=${target.validation?.checkedAt ?? relay?.lastSeen} never="–" /></span>` },
  { key: 'took', label: 'Took', className: 'num sm', render: (/** @type {any} */ { target, relay }) => html`<code class="dim"><${Duration} ms=${took(target, relay)} /></code>` },
];

const TONES = { ok: 'dim', warn: 'warn', bad: 'bad', off: 'dim' };
