// Hooks that pages share: reading the contract, the title, keys, the time.
import { signal, useState, useEffect, useRef, useCallback } from './html.js';
import { get, Problem, withQuery } from './api.js';

/**
 * Reads a path; keeps what it has while it reads again. A null path reads nothing.
 * @param {string | null} path
 * @param {{query?: import('./api.js').Query, every?: number}} [options] every: milliseconds between readings, while the page is seen; a slow answer is waited for
 * @returns {{data: any, error: Problem | null, loading: boolean, reload: () => Promise<void>}}
 */
export function useGet(path, { query, every } = {}) {
  const url = path === null ? null : withQuery(path, query);
  const [state, setState] = useState(/** @type {{path: string | null, data: any, error: Problem | null, loading: boolean}} */ ({ path, data: undefined, error: null, loading: url !== null }));
  const running = useRef(/** @type {AbortController | null} */ (null));
  const load = useCallback(async () => {
    running.current?.abort();
    running.current = null;
    if (url === null) return;
    const control = new AbortController();
    running.current = control;
    setState((old) => (old.path === path ? { ...old, loading: true } : { path, data: undefined, error: null, loading: true }));
    try {
      const data = await get(url, { signal: control.signal });
      if (control.signal.aborted) return;
      running.current = null;
      setState({ path, data, error: null, loading: false });
    } catch (error) {
      if (control.signal.aborted) return;
      running.current = null;
      const problem = error instanceof Problem ? error : new Problem(0, { detail: String(error) });
      setState((old) => ({ ...old, error: problem, loading: false }));
    }
  }, [url]);
  useEffect(() => {
    load();
    const timer = every && url !== null ? setInterval(() => { if (!document.hidden && !running.current) load(); }, every) : undefined;
    return () => { clearInterval(timer); running.current?.abort(); running.current = null; };
  }, [url, every]);
  const stale = state.path !== path;
  return { data: stale ? undefined : state.data, error: stale ? null : state.error, loading: stale ? url !== null : state.loading, reload: load };
}

/** Names the page in the window's title. @param {string} text */
export function useTitle(text) {
  useEffect(() => { document.title = text ? `${text} · Toolgate` : 'Toolgate'; }, [text]);
}

/** Whether single letters are commands; kept in this browser. */
export const letters = signal(kept('toolgate.keys') !== 'off');

/** @param {boolean} on */
export function setLetters(on) {
  letters.value = on;
  keep('toolgate.keys', on ? 'on' : 'off');
}

/** @param {string} name */
export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value */
export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // A private window keeps nothing.
  }
}

/** Forgets all that is kept under names that begin so. @param {string} start */
export function dropKept(start) {
  try {
    for (const name of Object.keys(localStorage)) if (name.startsWith(start)) localStorage.removeItem(name);
  } catch {
    // What keeps nothing has nothing to forget.
  }
}

/** @typedef {Record<string, (event: KeyboardEvent) => unknown>} Keys */
/** @type {{current: Keys}[]} */
const layers = [];

/**
 * Keys while this part is on the page: '/', 'j', 'Enter', 'Escape', 'ctrl+Enter', 'ctrl+k'. The part that came last
 * is asked first; one that answers false passes the key on. Keys without ctrl are silent in fields.
 * @param {Keys} keys
 */
export function useKeys(keys) {
  const layer = useRef(keys);
  layer.current = keys;
  useEffect(() => {
    layers.push(layer);
    return () => { layers.splice(layers.indexOf(layer), 1); };
  }, []);
}

/** @param {KeyboardEvent} event */
function nameOf(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return (event.ctrlKey || event.metaKey ? 'ctrl+' : '') + key;
}

/** Where letters are typed; boxes and switches take none. */
const FIELDS = 'input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]';
const PRESSED = 'a, button, summary, [role="button"], [role="tab"], [role="option"]';

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const name = nameOf(event);
  const at = event.target instanceof Element ? event.target : document.body;
  const ctrl = name.startsWith('ctrl+');
  if (!ctrl && name !== 'Escape' && at.closest(FIELDS)) return;
  if (name === 'Enter' && at.closest(PRESSED)) return;
  if (name.length === 1 && !letters.value) return;
  // What is under a dialog does not listen.
  if (document.querySelector('dialog[open]') && !at.closest('dialog[open]')) return;
  // The browser itself closes dialogs and popovers, the topmost first.
  if (name === 'Escape' && document.querySelector('dialog[open], :popover-open')) return;
  for (const layer of [...layers].reverse()) {
    const fn = layer.current[name];
    if (fn && fn(event) !== false) {
      event.preventDefault();
      return;
    }
  }
});

/** The time, told anew every so many milliseconds. @param {number} ms */
export function useNow(ms) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), ms);
    return () => clearInterval(timer);
  }, [ms]);
  return now;
}

/**
 * Whether a moment has gone by. What comes sooner is drawn at once, without a skeleton that would make the page move.
 * @param {number} [ms]
 */
export function useMoment(ms = 120) {
  const [gone, setGone] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setGone(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return gone;
}
