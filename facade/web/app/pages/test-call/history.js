// The calls made from this browser: name, target, arguments and how they ended. Results are never kept. One list for
// each tenant and person, bounded in number and size, and gone when it is cleared or its session is ended.
import { writeExact } from '../../exact.js';
import { signal } from '../../html.js';
import { CALLS, me } from '../../session.js';
import { targetOf } from './outcome.js';

/**
 * @typedef {{
 *   when: number, tool: string, target: {id: string, name: string}|null, args: string|null,
 *   how: 'live'|'cached'|'ok'|'said no'|'cancelled'|'failed', reason: string, ms: number|null, id: string|null
 * }} Kept `args` is null where they were too long to keep
 */

const MOST = 50;
const LONGEST = 4096;

/** What is kept, newest first. */
export const calls = signal(/** @type {Kept[]} */ ([]));

/** Reads what this browser kept for who is signed in. */
export function recall() {
  calls.value = read().filter(sound).slice(0, MOST);
}

/**
 * Keeps a call that has ended.
 * @param {import('./state.js').Call} call
 */
export function keep(call) {
  const args = writeExact(call.args);
  write([{
    when: call.when, tool: call.tool.name, target: call.target ?? (call.outcome && targetOf(call.outcome)), args: args.length > LONGEST ? null : args,
    how: how(call), reason: call.problem?.reason ?? '', ms: call.took, id: call.id,
  }, ...calls.peek()].slice(0, MOST));
}

/** Forgets all of them. */
export function clear() {
  write([]);
}

/**
 * @param {import('./state.js').Call} call
 * @returns {Kept['how']}
 */
function how(call) {
  if (call.phase !== 'answered') return call.phase === 'cancelled' ? 'cancelled' : 'failed';
  if (call.outcome?.isError) return 'said no';
  if (call.outcome?._meta?.['toolgate/cachedAt']) return 'cached';
  return call.tool.freshness === 'live' ? 'live' : 'ok';
}

function key() {
  return `${CALLS}${me.peek()?.tenantId}.${me.peek()?.principal}`;
}

/** @returns {Kept[]} */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(key()) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** @param {Kept[]} list */
function write(list) {
  calls.value = list;
  try {
    if (list.length) localStorage.setItem(key(), JSON.stringify(list));
    else localStorage.removeItem(key());
  } catch {
    // A browser that keeps nothing still shows the list until the page is left.
  }
}

/** @param {any} entry */
function sound(entry) {
  return typeof entry?.when === 'number' && typeof entry.tool === 'string'
    && (entry.args === null || typeof entry.args === 'string');
}
