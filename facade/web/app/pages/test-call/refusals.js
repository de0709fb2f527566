// What a refusal is called at this page in one word, and where it is mended.
import { lookup } from '../../lookup.js';

/** @type {Record<string, string>} */
const BADGES = lookup({
  RATE_LIMITED: 'limited', UPSTREAM_RATE_LIMITED: 'limited', OVERLOADED: 'limited', UPSTREAM_TOO_LARGE: 'too large',
  UPSTREAM_TIMEOUT: 'timed out', DEADLINE_EXCEEDED: 'timed out', RELAY_OFFLINE: 'offline', RELAY_LOST: 'offline',
  PROJECT_OFFLINE: 'offline', NO_ANSWER: 'no answer', CALL_NOT_FOUND: 'lost', CANCELLED: 'cancelled',
  UPSTREAM_UNREACHABLE: 'failed', UPSTREAM_TLS: 'failed', UPSTREAM_INVALID: 'failed', UPSTREAM_FAILED: 'failed',
  SECRET_UNAVAILABLE: 'failed', AUDIT_UNAVAILABLE: 'failed', CREDENTIAL_REJECTED: 'failed', INTERNAL: 'failed',
});

const ADAPTERS = [
  'TARGET_NOT_FOUND', 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNREACHABLE', 'UPSTREAM_TLS', 'UPSTREAM_INVALID', 'CREDENTIAL_REJECTED',
  'CREDENTIAL_DRIFTED', 'SECRET_UNAVAILABLE',
];
const FLEET = ['RELAY_OFFLINE', 'RELAY_LOST', 'PROJECT_OFFLINE', 'PROJECT_NOT_FOUND'];

/** @param {string} reason */
export const wordOf = (reason) => BADGES[reason] ?? 'refused';

/**
 * Where what is wrong can be looked at.
 * @param {import('../../api.js').Problem} problem
 * @param {import('./state.js').Call} call
 * @returns {{href: string, label: string}|null}
 */
export function placeOf(problem, call) {
  if (problem.reason === 'TOOL_NOT_FOUND') return { href: `/tools/why?tool=${encodeURIComponent(call.tool.name)}`, label: 'Why is it not visible?' };
  if (FLEET.includes(problem.reason)) return { href: '/fleet', label: 'Open Fleet' };
  if (!ADAPTERS.includes(problem.reason)) return null;
  return call.target ? { href: `/adapters/${call.target.id}`, label: 'Test its connection' } : { href: '/adapters', label: 'Open Adapters' };
}
