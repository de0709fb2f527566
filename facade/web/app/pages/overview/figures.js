// What the figures of `GET /api/overview` say. Pure.
import { figure } from '../../reading.js';
import { lookup } from '../../lookup.js';

/**
 * @typedef {{name: string, calls: number[], p95Ms: (number|null)[]}} ToolFigures
 * @typedef {{
 *   since: string, stepMs: number, startMs: number, tools: ToolFigures[], calls: number[], failed: number[],
 *   refused: number[], refusals: {reason: string, count: number}[],
 *   limits?: {userPerMinute: number, userLeft: number, tenantPerMinute: number, tenantLeft: number},
 *   record?: {seq: number, checkpointSeq?: number, checkpointAt?: string}, uplinks?: {connected: number, total: number},
 * }} Overview
 */

/** How many tools a chart tells apart. */
export const APART = 5;

/** A check of a connection is counted as a tool is, but nobody calls it. */
export const TEST = 'test_connection';

/** What a counted tool is called to people. */
export const called = (/** @type {string} */ name) => (name === TEST ? 'connection test' : name);

/** Sum of a list. */
export const sum = (/** @type {number[]} */ values) => values.reduce((all, value) => all + value, 0);

/** Calls of the last 60 seconds: the step that runs, and as much of those before it as fits. */
export function perMinute(/** @type {Overview} */ o, /** @type {number} */ now) {
  const last = o.calls.length - 1;
  const into = Math.min(Math.max(now - (o.startMs + last * o.stepMs), 0), o.stepMs);
  let rest = 60_000 - into;
  let calls = o.calls[last] ?? 0;
  for (let at = last - 1; at >= 0 && rest > 0; at -= 1, rest -= o.stepMs) {
    calls += (o.calls[at] ?? 0) * Math.min(rest / o.stepMs, 1);
  }
  return Math.round(calls);
}

/** When each step began, in milliseconds since 1970. */
export const times = (/** @type {Overview} */ o) => o.calls.map((_, at) => o.startMs + at * o.stepMs);

/** `values` of steps as calls per minute; steps that nobody counted are gaps. @returns {(number|null)[]} */
export function rates(/** @type {Overview} */ o, /** @type {number[]} */ values) {
  const since = Date.parse(o.since);
  return values.map((value, at) =>
    o.startMs + (at + 1) * o.stepMs <= since ? null : Math.round((value * 60_000) / o.stepMs));
}

/** The most called tools, and all others as one. @returns {ToolFigures[]} */
export function apart(/** @type {Overview} */ o, /** @type {number} */ lines = APART) {
  const most = o.tools.slice(0, lines);
  const rest = o.tools.slice(lines);
  if (rest.length < 2) return [...most, ...rest];
  const calls = o.calls.map((_, at) => sum(rest.map((tool) => tool.calls[at] ?? 0)));
  const p95Ms = o.calls.map((_, at) => highest(rest.map((tool) => tool.p95Ms[at] ?? null)));
  return [...most, { name: `${rest.length} others`, calls, p95Ms }];
}

/** The tools by the slowest of their steps. @returns {{name: string, p95: number, calls: number}[]} */
export function slowest(/** @type {Overview} */ o) {
  return o.tools
    .map((tool) => ({ name: tool.name, p95: Math.round(highest(tool.p95Ms) ?? -1), calls: sum(tool.calls) }))
    .filter((tool) => tool.p95 >= 0)
    .sort((a, b) => b.p95 - a.p95);
}

/** When requests were refused: the steps, in milliseconds. @returns {number[]} */
export function ticks(/** @type {Overview} */ o) {
  return o.refused.flatMap((count, at) => (count > 0 ? [o.startMs + at * o.stepMs] : []));
}

/** The highest that is known, or null. */
export function highest(/** @type {(number|null)[]} */ values) {
  const known = values.filter((value) => value !== null);
  return known.length ? Math.max(...known) : null;
}

/** @type {Record<string, [string, string]>} reasons in words, for one and for more */
const REASONS = lookup({
  WRITE_REJECTED: ['write attempt', 'write attempts'], RATE_LIMITED: ['over a limit', 'over a limit'], OVERLOADED: ['turned away full', 'turned away full'],
  TOOL_NOT_FOUND: ['unknown tool', 'unknown tools'], TARGET_NOT_FOUND: ['unknown target', 'unknown targets'], TARGET_REQUIRED: ['without a target', 'without a target'],
  ARGUMENTS_INVALID: ['wrong arguments', 'wrong arguments'], CREDENTIAL_INVALID: ['without a valid token', 'without a valid token'],
  ROLE_FORBIDDEN: ['not allowed to the role', 'not allowed to the role'], ORIGIN_FORBIDDEN: ['from another site', 'from another site'],
});
/** How many reasons a tile has room for. */
const MOST = 3;

/** What was refused, by reason: write attempts first, then the most frequent. @returns {{words: string, write: boolean}[]} */
export function refusedWords(/** @type {Overview['refusals']} */ refusals) {
  const rank = (/** @type {{reason: string, count: number}} */ each) => (each.reason === 'WRITE_REJECTED' ? Infinity : each.count);
  const sorted = refusals.filter((each) => each.count > 0).sort((a, b) => rank(b) - rank(a));
  const told = sorted.slice(0, sorted.length > MOST ? MOST - 1 : MOST);
  const rest = sorted.slice(told.length);
  return [
    ...told.map(({ reason, count }) => ({ words: `${figure(count)} ${wordOf(reason, count)}`, write: reason === 'WRITE_REJECTED' })),
    ...(rest.length ? [{ words: `${figure(sum(rest.map(({ count }) => count)))} for ${rest.length} more reasons`, write: false }] : []),
  ];
}

/** A reason without words of its own is its own word. */
const wordOf = (/** @type {string} */ reason, /** @type {number} */ count) =>
  REASONS[reason]?.[count === 1 ? 0 : 1] ?? reason.toLowerCase().replaceAll('_', ' ');
