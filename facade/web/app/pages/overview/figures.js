// What the figures of `GET /api/overview` say. Pure.

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
export const APART = 3;

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
export function apart(/** @type {Overview} */ o) {
  const most = o.tools.slice(0, APART);
  const rest = o.tools.slice(APART);
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
