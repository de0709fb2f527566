// Reads the record page by page, and follows its end.
//
// What came stays: older pages are put below, new rows above. A paused tail keeps reading and only counts.

import { useCallback, useEffect, useRef, useState } from '../../html.js';
import { get, Problem } from '../../api.js';
import { merge } from './chain.js';

/** @typedef {import('./events.js').AuditEvent} AuditEvent */
/** @typedef {Record<string, string>} Params */

/** Rows of a page. */
export const PAGE = 100;
/** Rows that wait at most while the tail is paused; beyond that they are read anew. */
const MOST_WAITING = 1000;

/**
 * @typedef {{
 *   rows: AuditEvent[], waiting: AuditEvent[], cursor: string, head: number, loading: boolean, older: boolean,
 *   error: Problem|null, tailError: Problem|null, readAt: number,
 * }} State
 */

/** @returns {State} */
const blank = () => ({
  rows: [], waiting: [], cursor: '', head: 0, loading: true, older: false, error: null, tailError: null, readAt: 0,
});

/**
 * The rows that pass `params`; a new key begins anew.
 * @param {string} key what the rows depend on
 * @param {() => Params} params asked anew for every first page, since a span moves with the time
 * @param {{every: number, shown: boolean}|null} tail how often to look for new rows, and whether they come in by themselves
 */
export function useFeed(key, params, tail) {
  const [state, setState] = useState(blank);
  const at = useRef({ key, params: /** @type {Params} */ ({}), seq: 0, stop: new AbortController() });

  const first = useCallback(async () => {
    at.current.stop.abort();
    const stop = new AbortController();
    const asked = params();
    at.current = { key, params: asked, seq: 0, stop };
    setState((old) => ({ ...blank(), rows: old.readAt && at.current.key === key ? old.rows : [], loading: true }));
    try {
      const page = await get('/api/audit/events', { query: { ...asked, pageSize: PAGE }, signal: stop.signal });
      at.current.seq = page.events[0]?.seq ?? 0;
      setState({ ...blank(), rows: page.events, cursor: page.nextCursor, head: at.current.seq, loading: false, readAt: Date.now() });
    } catch (error) {
      if (!stop.signal.aborted) setState({ ...blank(), loading: false, error: problem(error) });
    }
  }, [key]);

  useEffect(() => {
    first();
    return () => at.current.stop.abort();
  }, [key]);

  const older = useCallback(async () => {
    const { signal } = at.current.stop;
    setState((old) => ({ ...old, older: true }));
    try {
      const query = { ...at.current.params, pageSize: PAGE, cursor: state.cursor };
      const page = await get('/api/audit/events', { query, signal });
      setState((old) => ({ ...old, rows: merge(old.rows, page.events), cursor: page.nextCursor, older: false, error: null }));
    } catch (error) {
      if (!signal.aborted) setState((old) => ({ ...old, older: false, error: problem(error) }));
    }
  }, [state.cursor]);

  const show = useCallback(() => setState(shown), []);

  const ready = state.readAt > 0;
  useEffect(() => {
    if (!tail || !ready) return undefined;
    const stop = at.current.stop;
    const look = async () => {
      if (document.hidden) return;
      try {
        const news = await after(at.current, stop.signal);
        if (news.length === 0) return setState((old) => (old.tailError ? { ...old, tailError: null } : old));
        setState((old) => {
          const next = { ...old, waiting: merge(old.waiting, news).slice(0, MOST_WAITING), tailError: null };
          return tail.shown ? shown(next) : next;
        });
      } catch (error) {
        if (!stop.signal.aborted) setState((old) => ({ ...old, tailError: problem(error) }));
      }
      return undefined;
    };
    return paced(look, tail.every);
  }, [key, ready, tail?.every, tail?.shown]);

  useEffect(() => { if (tail?.shown) show(); }, [tail?.shown]);

  return { ...state, first, loadOlder: older, show };
}

/** The new rows since `at.seq`, which moves on. */
async function after(/** @type {{params: Params, seq: number}} */ at, /** @type {AbortSignal} */ signal) {
  const query = { ...at.params, pageSize: PAGE, afterSeq: at.seq };
  const page = await get('/api/audit/events', { query, signal });
  /** @type {AuditEvent[]} */
  const news = page.events.filter((/** @type {AuditEvent} */ row) => row.seq > at.seq);
  at.seq = Math.max(at.seq, page.nextAfterSeq ?? 0, ...news.map((row) => row.seq));
  return news;
}

/** What waits comes in. @returns {State} */
function shown(/** @type {State} */ old) {
  if (old.waiting.length === 0) return old;
  const rows = merge(old.rows, old.waiting);
  return { ...old, rows, waiting: [], head: rows[0]?.seq ?? 0 };
}

/** Runs `work` every `ms`, never two at a time; returns what ends it. */
function paced(/** @type {() => Promise<unknown>} */ work, /** @type {number} */ ms) {
  let over = false;
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  const next = () => { timer = setTimeout(async () => { await work(); if (!over) next(); }, ms); };
  next();
  return () => { over = true; clearTimeout(timer); };
}

const problem = (/** @type {unknown} */ error) =>
  error instanceof Problem ? error : new Problem(0, { detail: String(error) });
