// One call: sent, admitted, watched to its end, cancelled by leaving its stream. Holds no markup.
import { Problem, post, stream } from '../../api.js';
import { signal } from '../../html.js';
import { fail, fresh, heard, over, say, set } from './state.js';

/**
 * @typedef {import('./state.js').CallState} CallState
 * @typedef {{state: CallState, cancel: () => void, ended: Promise<void>}} Running
 */

/** How long the gateway has to see that we left, before it is asked how the call ended. */
const NOTICE = 150;
/** How long it is then listened to. */
const LISTEN = 3000;

/**
 * Starts a call. Its state changes until the phase is that of an end; then `ended` is fulfilled.
 * @param {import('./state.js').Called} tool
 * @param {any} args
 * @param {import('./state.js').Target|null} target
 * @returns {Running}
 */
export function begin(tool, args, target) {
  const state = /** @type {CallState} */ (signal(fresh(tool, args, target)));
  const leaving = new AbortController();
  return { state, cancel: () => leave(state, leaving), ended: carry(state, leaving.signal) };
}

/**
 * The last reader of a stream that leaves cancels the call; there is no other way and none is needed.
 * @param {CallState} state
 * @param {AbortController} leaving
 */
function leave(state, leaving) {
  if (over(state) || leaving.signal.aborted) return;
  set(state, { phase: 'cancelling', left: true });
  say(state, 'now', 'leaving the stream', 'its last reader cancels the call');
  leaving.abort();
}

/**
 * @param {CallState} state
 * @param {AbortSignal} left
 */
async function carry(state, left) {
  const { tool, args, target } = state.peek();
  try {
    say(state, 'ok', 'sent', tool.name);
    const body = target ? { name: tool.name, arguments: args, targetId: target.id } : { name: tool.name, arguments: args };
    const started = await post('/api/mcp/invoke', body);
    set(state, { id: started.correlationId, phase: left.aborted ? 'cancelling' : 'running' });
    say(state, 'ok', 'admitted', 'arguments valid, limits kept, credential resolved', '202');
    await watch(state, started.streamUrl, left);
    if (left.aborted && !over(state)) await learnTheEnd(state, started.streamUrl);
  } catch (error) {
    fail(state, error instanceof Problem ? error : new Problem(0, { title: 'no answer', detail: String(error) }));
  }
}

/**
 * @param {CallState} state
 * @param {string} url
 * @param {AbortSignal} left
 */
async function watch(state, url, left) {
  // A call that nobody ever watched runs on, so one that was cancelled while it was being sent is watched and left.
  const signal = left.aborted ? AbortSignal.timeout(NOTICE) : left;
  try {
    await stream(url, {
      signal,
      onEvent: (event) => heard(state, event),
      onOpen: (after, tries) => opened(state, after, tries),
      onBreak: (tries) => broke(state, tries),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/**
 * @param {CallState} state
 * @param {string} after the last event that was seen
 * @param {number} tries
 */
function opened(state, after, tries) {
  set(state, { lost: false });
  if (tries) say(state, 'ok', 'resumed', after ? `Last-Event-ID ${after}` : 'from its first event', 'SSE');
  else say(state, 'now', 'watching', 'the stream is open', 'SSE');
}

/**
 * @param {CallState} state
 * @param {number} tries
 */
function broke(state, tries) {
  set(state, { lost: true, breaks: state.peek().breaks + 1 });
  say(state, 'bad', 'connection lost', tries > 1 ? `try ${tries}` : 'going on after the last event that was seen');
}

/**
 * Asks how the call ended after we left. It may have been settled just before.
 * @param {CallState} state
 * @param {string} url
 */
async function learnTheEnd(state, url) {
  await new Promise((resolve) => setTimeout(resolve, NOTICE));
  try {
    await stream(url, { signal: AbortSignal.timeout(LISTEN), onEvent: (event) => heard(state, event) });
  } catch {
    // Nothing to hear: the call is gone, and with it what was known of it.
  }
  if (!over(state)) fail(state, new Problem(499, { reason: 'CANCELLED', title: 'cancelled' }));
}
