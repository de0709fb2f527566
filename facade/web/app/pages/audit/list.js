// The card of the rows with all its states: loading, none, no match, away, paused with new rows waiting.

import { html, useRef } from '../../html.js';
import { setQuery } from '../../router.js';
import { Button } from '../../parts/button.js';
import { Empty } from '../../parts/empty.js';
import { Note, Refusal } from '../../parts/note.js';
import { timeWords } from './filter-bar.js';
import { any, none, spanWords, toQuery, wider } from './filters.js';
import { grouped } from './events.js';
import { sentence } from '../../refusals.js';
import { Rows } from './rows.js';

/** @typedef {ReturnType<typeof import('./feed.js').useFeed>} Feed */

/**
 * @param {{feed: Feed, wait: boolean, filters: import('./filters.js').Filters, own: boolean,
 *   record: {seq: number, checkpointSeq?: number, checkpointAt?: string}|undefined, open: number|null, search: string,
 *   nameOf: (id: string) => string, tailing: boolean}} props wait: how far the record is is not known yet
 */
export function List({ feed, wait, filters, own, record, open, search, nameOf, tailing }) {
  const began = useRef({ at: 0, seq: 0 });
  if (began.current.at !== feed.readAt) began.current = { at: feed.readAt, seq: feed.rows[0]?.seq ?? 0 };
  if (feed.error && feed.rows.length === 0) return html`<${Away} problem=${feed.error} retry=${feed.first} />`;
  if (!feed.loading && feed.rows.length === 0 && feed.waiting.length === 0) {
    return html`<section class="card">${any(filters) || own
      ? html`<${NoMatch} feed=${feed} filters=${filters} own=${own} seq=${record?.seq} nameOf=${nameOf} />`
      : html`<${Empty} icon="link" title="Nothing on the record yet" text="Every call, change and refusal will stand here." />`}</section>`;
  }
  // Without a filter whatever is newer is only on its way.
  const hidden = any(filters) || own;
  const head = Math.max(feed.head, hidden && feed.waiting.length === 0 ? record?.seq ?? 0 : 0);
  const checkpoint = record?.checkpointSeq ? { seq: record.checkpointSeq, at: record.checkpointAt ?? '' } : undefined;
  return html`<section class="card" aria-label="Audit rows" aria-busy=${feed.loading}>
    <${News} feed=${feed} tailing=${tailing && open === null} />
    <${Rows} rows=${wait ? [] : feed.rows} loading=${feed.loading || wait} end=${!feed.cursor} head=${head} own=${own} checkpoint=${checkpoint}
      open=${open} search=${search} newest=${began.current.seq || Infinity} nameOf=${nameOf} />
    ${feed.error && html`<div class="card-body"><${Refusal} problem=${feed.error} onRetry=${feed.loadOlder} /></div>`}
    <div class="card-foot"><span class="num" role="status">${feed.readAt > 0 && `${grouped(feed.rows.length)}${record ? ` of ${grouped(record.seq)}` : ''} rows`}</span>
      <span class="row tight push only-wide"><kbd>J</kbd><kbd>K</kbd> move <kbd>Enter</kbd> open</span>
      ${feed.cursor
        ? html`<${Button} kind="quiet" small icon="down" busy=${feed.older} onClick=${feed.loadOlder}>Older<//>`
        : feed.readAt > 0 && html`<span>nothing older</span>`}</div>
  </section>`;
}

/** New rows that wait, or a tail that is broken off. */
function News(/** @type {{feed: Feed, tailing: boolean}} */ { feed, tailing }) {
  const waiting = feed.waiting.length;
  return html`<div class="news" role="status">
    ${feed.tailError && html`<div class="card-body"><${Note} state="warn" title="The live tail is broken off."><span>${sentence(feed.tailError.message)} It goes on by itself.</span><//></div>`}
    ${!tailing && waiting > 0 && html`<button type="button" class="btn quiet news-row" onClick=${feed.show}>
      ${waiting === 1 ? '1 new row' : `${grouped(waiting)} new rows`}, show</button>`}</div>`;
}

function Away(/** @type {{problem: import('../../api.js').Problem, retry: () => void}} */ { problem, retry }) {
  return html`<section class="card"><div class="card-body stack"><${Refusal} problem=${problem} title="The record cannot be read." onRetry=${retry} /></div></section>`;
}

/** @param {{feed: Feed, filters: import('./filters.js').Filters, own: boolean, seq: number|undefined, nameOf: (id: string) => string}} props */
function NoMatch({ feed, filters, own, seq, nameOf }) {
  const wide = wider(filters);
  const widen = () => setQuery({ last: wide || null, since: null, until: null }, { push: true });
  const text = `${told(filters, nameOf)}${seq && !own ? ` The record holds ${grouped(seq)} rows in all.` : ''}`;
  return html`<${Empty} icon="search" title=${any(filters) ? 'No row matches' : 'Nothing of yours yet'} text=${text}>
    ${feed.cursor && html`<${Button} busy=${feed.older} onClick=${feed.loadOlder}>Search further back<//>`}
    ${wide !== null && html`<${Button} onClick=${widen}>${wide ? `Last ${spanWords(wide)}` : 'All time'}<//>`}
    ${any(filters) && html`<${Button} kind="quiet" onClick=${() => setQuery(toQuery(none()), { push: true })}>Clear filters<//>`}<//>`;
}

/** What was looked for, in a sentence. */
function told(/** @type {import('./filters.js').Filters} */ f, /** @type {(id: string) => string} */ nameOf) {
  const parts = [
    f.event && `of ${f.event}`, f.tool && `of ${f.tool}`, f.result && `with result ${f.result}`, f.principal && `by ${f.principal}`,
    f.targetId && `on ${nameOf(f.targetId)}`, f.correlationId && `under ${f.correlationId}`, timeWords(f),
  ].filter(Boolean);
  return parts.length ? `Nothing ${parts.join(', ')}.` : 'What you call through this gateway will stand here.';
}
