// How far the first three steps are, as the gateway itself tells.

import { useGet } from '../../use.js';
import { may } from '../../session.js';

/**
 * `target`: one to call, the gateway's own host first; `several`: there are more of its kind, so it must be named; `called`: a tool was carried out once; `agent`: an agent's token has
 * been used. `known` once all of it is known.
 * @typedef {{target: import('./health.js').Target|null, several: boolean, called: boolean, agent: boolean, known: boolean}} Progress
 */

/** Dialects that agents speak. */
const AGENTS = ['mcp', 'openai'];

/** @returns {Progress} */
export function useProgress(/** @type {any} */ targets, /** @type {boolean} */ wanted) {
  const every = wanted ? 2000 : undefined;
  const calls = useGet(wanted ? '/api/audit/events' : null, { query: { event: 'adapter.capability_invoked', pageSize: 20 }, every });
  const tokens = useGet(wanted && may('change') ? '/api/tokens' : null, { query: { pageSize: 200 }, every });
  const events = calls.data?.events ?? [];
  const all = targets.data?.targets ?? [];
  const target = all.find((/** @type {any} */ t) => t.config?.builtIn) ?? all[0] ?? null;
  return {
    target,
    several: all.filter((/** @type {any} */ t) => t.type === target?.type).length > 1,
    called: events.length > 0,
    agent: events.some((/** @type {any} */ e) => AGENTS.includes(e.facade) || e.role === 'agent')
      || (tokens.data?.tokens ?? []).some((/** @type {any} */ t) => t.role === 'agent' && t.lastUsedAt),
    known: !wanted || [targets, calls, ...(may('change') ? [tokens] : [])].every((asked) => asked.data || asked.error),
  };
}
