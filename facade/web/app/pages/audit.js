// Audit: whether the record is whole, what is on it, and the proof of every row.

import { html, useEffect, useMemo, useState } from '../html.js';
import { curl, withQuery } from '../api.js';
import { may, me } from '../session.js';
import { useGet } from '../use.js';
import { later } from '../later.js';
import { CopyButton } from '../parts/code.js';
import { Note } from '../parts/note.js';
import { Page } from '../parts/page.js';
import { tell } from '../sealed.js';
import { needStyle } from '../need-style.js';
import { useFeed } from './audit/feed.js';
import { FilterBar } from './audit/filter-bar.js';
import { closed, read, toParams, toSearch } from './audit/filters.js';
import { List } from './audit/list.js';
import { RecordCard } from './audit/record.js';

/** How often the tail looks for new rows. */
const TAIL_MS = 1000;

await needStyle('audit');

const RowDetail = later(() => import('./audit/detail.js'), 'RowDetail');

/** @param {{parts: string[], query: URLSearchParams}} props */
export default function Audit({ parts, query }) {
  const open = Number(parts.find((part) => /^\d+$/.test(part))) || null;
  const search = query.toString();
  const filters = useMemo(() => read(query), [search]);
  const all = may('read-record');
  const [tailing, setTailing] = useState(true);
  const able = !closed(filters);
  const tail = able ? { every: TAIL_MS, shown: tailing && open === null } : null;
  const feed = useFeed(search, () => toParams(filters, Date.now()), tail);
  const targets = useGet('/api/mcp/adapter', { query: { pageSize: 200 } }).data?.targets ?? [];
  const tools = useTools();
  const last = useGet(all ? '/api/audit/events' : null, { query: { event: 'audit.verified', pageSize: 1 } });
  // What stands below the answer waits for it, so that nothing moves.
  const answered = !all || last.data || last.error;
  const told = useGet('/api/overview', { query: { minutes: 1 }, every: 10_000 });
  const record = told.data?.record;
  useEffect(() => tell(record), [record]);
  const nameOf = (/** @type {string} */ id) => targets.find((/** @type {any} */ t) => t.id === id)?.name ?? (id && `…${id.slice(-6)}`);
  const words = toSearch(filters);
  const asked = curl('GET', withQuery('/api/audit/events', toParams(filters, Date.now())));
  return html`<${Page} title="Audit" lead=${lead(all)} wide actions=${html`<${CopyButton} text=${asked} small=${false}>Copy as curl<//>`}>
    ${all ? html`<${RecordCard} seq=${Math.max(record?.seq ?? 0, feed.head) || undefined} last=${last} />` : html`<${Own} />`}
    ${answered && html`<${FilterBar} filters=${filters} targets=${targets} tools=${tools} own=${!all} tail=${{ on: tailing, able, set: setTailing }} />
    <div class=${open ? 'split audit' : 'split'}>
      <${List} feed=${feed} wait=${!told.data && !told.error} filters=${filters} own=${!all} record=${record} open=${open} search=${words} nameOf=${nameOf} tailing=${tailing} />
      ${open && html`<${RowDetail} seq=${open} search=${words} nameOf=${nameOf} />`}
    </div>`}<//>`;
}

const lead = (/** @type {boolean} */ all) => (all
  ? 'Every call, change and refusal of this tenant, each row bound to the one before it.'
  : 'What you did through this gateway, each row bound to the one before it.');

const Own = () => html`<${Note} state="accent" title="You see your own rows.">
  <span>The role ${me.value?.role} reads what ${me.value?.principal} did. The rows of others are counted where they stand between yours; auditors and admins read, verify and export the whole record.</span><//>`;

/** Names of tools to offer. @returns {string[]} */
function useTools() {
  const { data } = useGet('/api/profiles/all/cost');
  return useMemo(() => (data?.tools ?? []).map((/** @type {any} */ tool) => tool.name), [data]);
}
