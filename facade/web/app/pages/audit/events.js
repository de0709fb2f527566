// What an event of the record is, and the closed names on it.
//
// Pure: no request, no page. The names are those of `proto/toolgate/v1/audit_service.proto` and of the record itself.
import { lookup } from '../../lookup.js';

/**
 * One row, as `GET /api/audit/events` tells it. A row whose bytes cannot be read has a place and nothing else.
 * @typedef {{
 *   seq: number, event: string, time: string, tenantId: string, principal: string, role: string, facade: string,
 *   adapterType: string, targetId: string, capability: string, paramsHash: string, result: string, reason: string,
 *   durationMs: number, correlationId: string, detail?: any,
 * }} AuditEvent
 */

/** How an event may end. */
export const RESULTS = ['success', 'failure', 'refused', 'cancelled', 'unknown'];

/** Every kind of event. */
export const KINDS = [
  'adapter.capability_invoked', 'adapter.write_rejected', 'request.refused',
  'adapter.configured', 'adapter.configuration_refused',
  'adapter.test_connection.succeeded', 'adapter.test_connection.failed',
  'policy.changed', 'profile.changed', 'token.created', 'token.revoked',
  'relay.enrolled', 'relay.revoked', 'relay.repinned', 'relay.clone_suspected',
  'project.registered', 'project.removed', 'project.switched', 'project.tools_changed',
  'session.signed_in', 'session.signed_out', 'audit.verified', 'audit.checkpoint_failed',
  'internal_issue.reported', 'tenant.created',
];

/** @type {Record<string, 'ok'|'warn'|'bad'|'idle'>} */
const STATES = lookup({ success: 'ok', failure: 'warn', refused: 'bad', cancelled: 'idle', unknown: 'idle' });

/** The badge's state of a result. */
export const stateOf = (/** @type {string} */ result) => STATES[result] ?? 'idle';

/** @type {Record<string, string>} */
const FACADES = lookup({
  rest: 'REST', grpc: 'gRPC', mcp: 'MCP', openai: 'OpenAI tools', cli: 'command line', system: 'the gateway itself',
});

/** The dialect in words. */
export const dialect = (/** @type {string} */ facade) => FACADES[facade] ?? facade;

/** True for a row whose bytes could not be read. */
export const unreadable = (/** @type {AuditEvent} */ row) => row.event === '';

/** What a row is about, in one word: the tool where there is one, else the kind of event. */
export function subject(/** @type {AuditEvent} */ row) {
  if (unreadable(row)) return 'unreadable row';
  return row.capability || row.event;
}

/** What a change is about, as its detail names it: a token, a target, a profile, a verdict. */
export function aboutOf(/** @type {AuditEvent} */ row) {
  const { name = row.detail?.profile ?? row.detail?.project ?? row.detail?.verdict ?? '' } = row.detail ?? {};
  if (typeof name !== 'string') return '';
  // A link is made as a token is, and is none.
  return row.detail?.kind === 'sign_in' ? ['sign-in link', name].filter(Boolean).join(' · ') : name;
}

/** How often one row of counted refusals happened, or 0. */
export function times(/** @type {AuditEvent} */ row) {
  const count = row.detail?.count;
  return typeof count === 'number' ? count : 0;
}

/** Whether a row stands for a whole minute: it is written when that ended, so its time is older than its neighbours'. */
export const isMinute = (/** @type {AuditEvent} */ row) => row.result === 'refused' && times(row) > 0;

/** "once" or "4 times". */
export const often = (/** @type {number} */ count) => (count === 1 ? 'once' : `${grouped(count)} times`);

/** `HH:MM:SS` and `.mmm` of a time, in UTC; empty for none. */
export function clockOf(/** @type {string} */ time) {
  const found = /T(\d\d:\d\d:\d\d)(\.\d{1,3})?/.exec(time);
  return { at: found?.[1] ?? '', fraction: found?.[2] ?? '' };
}

/** Groups of three digits. */
export const grouped = (/** @type {number} */ n) => n.toLocaleString('en-US');
