// The filters of the record as they stand in the address, and as the API takes them.
//
// Pure. The keys of the address are the parameters of `GET /api/audit/events`, so a link and a script ask the same;
// `last` is the page's own: a span that is turned into `since` when it is asked.
import { lookup } from '../../lookup.js';

/**
 * @typedef {{
 *   last: string, since: string, until: string, principal: string, tool: string, targetId: string, result: string,
 *   event: string, correlationId: string,
 * }} Filters
 */

/** Spans to choose from: key, words, milliseconds. */
export const SPANS = /** @type {const} */ ([
  ['15m', '15 min', 15 * 60_000],
  ['1h', '1 h', 3_600_000],
  ['24h', '24 h', 24 * 3_600_000],
  ['7d', '7 days', 7 * 24 * 3_600_000],
  ['30d', '30 days', 30 * 24 * 3_600_000],
]);

/** What is filtered by exact value, with the word that the page has for it. */
export const FIELDS = /** @type {const} */ ([
  ['tool', 'Tool'], ['principal', 'Principal'], ['targetId', 'Target'], ['result', 'Result'], ['event', 'Event'],
  ['correlationId', 'Correlation'],
]);

/** @type {Record<string, string>} other names under which a link may carry a filter */
const ALIASES = lookup({ target: 'targetId', correlation: 'correlationId', capability: 'tool', id: 'correlationId' });

/** @returns {Filters} no filter at all */
export const none = () => ({
  last: '', since: '', until: '', principal: '', tool: '', targetId: '', result: '', event: '', correlationId: '',
});

/** The filters of an address. @returns {Filters} */
export function read(/** @type {URLSearchParams} */ query) {
  /** @type {Record<string, string>} */
  const found = none();
  for (const [key, value] of query) {
    const name = ALIASES[key] ?? key;
    if (name in found) found[name] = value.trim();
  }
  if (!spanOf(found.last)) found.last = '';
  if (found.last) found.since = found.until = '';
  return /** @type {Filters} */ (found);
}

/** The filters as the query of an address; every key, `null` for what is not filtered. */
export function toQuery(/** @type {Filters} */ filters) {
  return Object.fromEntries(Object.entries(filters).map(([key, value]) => [key, value || null]));
}

/** The filters as a search text, `?…` or empty. */
export function toSearch(/** @type {Filters} */ filters) {
  const kept = Object.entries(filters).filter(([, value]) => value);
  return kept.length ? `?${new URLSearchParams(kept)}` : '';
}

/** The filters as parameters of the API at time `now`. */
export function toParams(/** @type {Filters} */ filters, /** @type {number} */ now) {
  const { last, ...rest } = filters;
  const span = spanOf(last);
  /** @type {Record<string, string>} */
  const params = Object.fromEntries(Object.entries(rest).filter(([, value]) => value));
  if (span) params.since = new Date(now - span).toISOString();
  return params;
}

/** True where anything is filtered. */
export const any = (/** @type {Filters} */ filters) => Object.values(filters).some(Boolean);

/** True where the rows have an end, so that no new one can come. */
export const closed = (/** @type {Filters} */ filters) => filters.until !== '';

/** The next wider span, or `''` for all time; `null` where time is not filtered. */
export function wider(/** @type {Filters} */ filters) {
  if (filters.since || filters.until) return '';
  const at = SPANS.findIndex(([key]) => key === filters.last);
  if (at < 0) return null;
  return SPANS.slice(at + 1).find(([key]) => ['24h', '30d'].includes(key))?.[0] ?? '';
}

/** The words of a span. */
export const spanWords = (/** @type {string} */ last) => SPANS.find(([key]) => key === last)?.[1] ?? '';

/** @returns {number|undefined} */
function spanOf(/** @type {string|undefined} */ last) {
  return SPANS.find(([key]) => key === last)?.[2];
}
