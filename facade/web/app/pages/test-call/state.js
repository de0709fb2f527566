// What is known of one call, and how each event changes it. Holds no markup and asks nobody.
import { Problem } from '../../api.js';
import { parseExact } from '../../exact.js';
import { joined } from './outcome.js';

/**
 * @typedef {import('./outcome.js').Outcome} Outcome
 * @typedef {{at: number, kind: 'ok'|'bad'|'now', text: string, detail?: string, end?: string}} Line
 * @typedef {{name: string, adapterType: string, freshness: string, writes: boolean}} Called
 * @typedef {{id: string, name: string}} Target
 * @typedef {'sending'|'running'|'cancelling'|'answered'|'failed'|'cancelled'} Phase
 * @typedef {{
 *   phase: Phase, tool: Called, target: Target|null, args: any, began: number, when: number,
 *   id: string|null, lines: Line[], outcome: Outcome|null, problem: Problem|null,
 *   took: number|null, lost: boolean, breaks: number, left: boolean, received: number
 * }} Call breaks: how often its stream broke off; left: the person at this page left it
 * @typedef {{value: Call, peek: () => Call}} CallState
 */

/**
 * A call that is about to be sent.
 * @param {Called} tool
 * @param {any} args
 * @param {Target|null} target
 * @returns {Call}
 */
export function fresh(tool, args, target) {
  return {
    phase: 'sending', tool, target, args, began: performance.now(), when: Date.now(), id: null, lines: [],
    outcome: null, problem: null, took: null, lost: false, breaks: 0, left: false, received: 0,
  };
}

/**
 * @param {CallState} state
 * @param {Partial<Call>} change
 */
export function set(state, change) {
  state.value = { ...state.peek(), ...change };
}

/**
 * Adds a line to the log, with the milliseconds since the call began.
 * @param {CallState} state
 * @param {Line['kind']} kind
 * @param {string} text
 * @param {string} [detail]
 * @param {string} [end]
 */
export function say(state, kind, text, detail, end) {
  const call = state.peek();
  const at = Math.round(performance.now() - call.began);
  // The log of one call is short; a stream that is lost for ever must not grow it for ever.
  set(state, { lines: [...call.lines, { at, kind, text, detail, end }].slice(-200) });
}

/** @param {CallState} state */
export function over(state) {
  return ['answered', 'failed', 'cancelled'].includes(state.peek().phase);
}

/**
 * Takes one event of the stream.
 * @param {CallState} state
 * @param {{id: string, event: string, data: any, text: string}} event
 */
export function heard(state, event) {
  const call = state.peek();
  const sequence = `event ${event.id.split('-')[1] ?? '?'}`;
  if (event.event === 'tool_result') {
    say(state, 'ok', 'tool_result', `${sequence}, ${bytes(event.text.length)}`, 'SSE');
    set(state, { outcome: joined(call.outcome, parseExact(event.text)), received: performance.now() });
  } else if (event.event === 'done') {
    const took = Number(event.data.durationMs);
    say(state, 'ok', 'done', `${sequence}, settled on the record before release`, 'SSE');
    set(state, { phase: 'answered', took, lost: false });
  } else if (event.event === 'error') {
    fail(state, new Problem(event.data.status, event.data), sequence);
  }
}

/**
 * @param {CallState} state
 * @param {Problem} problem
 * @param {string} [sequence]
 */
export function fail(state, problem, sequence) {
  const call = state.peek();
  const cancelled = problem.reason === 'CANCELLED';
  const where = sequence ? `${sequence}, ${problem.title}` : problem.title;
  say(state, cancelled ? 'ok' : 'bad', cancelled ? 'cancelled' : problem.reason, where, sequence ? 'SSE' : String(problem.status || ''));
  set(state, {
    phase: cancelled ? 'cancelled' : 'failed',
    problem, lost: false,
    id: call.id ?? problem.body.correlationId ?? null,
    took: Math.round(performance.now() - call.began),
  });
}

/** @param {number} length */
function bytes(length) {
  return length < 1024 ? `${length} B` : `${(length / 1024).toFixed(1)} kB`;
}
