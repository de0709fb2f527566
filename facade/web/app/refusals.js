// The reason words of the contract, each with what to do next. Text only.
import { lookup } from './lookup.js';

/** @type {Record<string, [string, string]>} what happened; what to do next where the answer itself does not say it */
const WORDS = lookup({
  NO_ANSWER: ['No answer.', ''],
  CREDENTIAL_INVALID: ['Signed out.', 'Sign in again.'],
  ROLE_FORBIDDEN: ['Not allowed.', 'An admin can do this, or give you the role.'],
  ORIGIN_FORBIDDEN: ['Refused.', 'Reload the page and try again.'],
  WRITE_REJECTED: ['Refused: it would write.', 'Only reads pass this gate. The attempt is on the record.'],
  TOOL_NOT_FOUND: ['No such tool.', 'Tools shows what this tenant has and why one is not listed.'],
  TARGET_NOT_FOUND: ['No such target.', 'Add one, or choose another.'],
  CALL_NOT_FOUND: ['No such call.', 'Results stay readable for a minute after the call.'],
  RESOURCE_NOT_FOUND: ['Not found.', 'It may have been removed.'],
  PROJECT_NOT_FOUND: ['No such project.', ''],
  ARGUMENTS_INVALID: ['The arguments do not fit.', ''],
  TARGET_REQUIRED: ['Which target?', 'Several fit; choose one.'],
  ROLE_VIOLATION: ['Not saved: the credential may do too much or too little.', ''],
  SCOPE_VIOLATION: ['Not saved: the scopes are not the least ones.', ''],
  CREDENTIAL_DRIFTED: ['Refused: the credential has become wider.', 'Replace it at the adapter.'],
  CREDENTIAL_REJECTED: ['The target refuses the credential.', 'Replace it at the adapter.'],
  CONFLICT: ['It conflicts with what is there.', ''],
  RATE_LIMITED: ['Too many calls.', ''],
  UPSTREAM_RATE_LIMITED: ['The target limits us.', ''],
  OVERLOADED: ['The gateway is full.', ''],
  SECRET_UNAVAILABLE: ['The credential is unavailable.', 'Look at the secret store, then try again.'],
  AUDIT_UNAVAILABLE: ['The record cannot be written.', 'Nothing was released. Look at the store, then try again.'],
  UPSTREAM_TIMEOUT: ['The target did not answer in time.', 'Test the connection at the adapter.'],
  UPSTREAM_UNREACHABLE: ['The target cannot be reached.', 'Test the connection at the adapter.'],
  UPSTREAM_TLS: ['The certificate is not accepted.', 'Give its authority or its fingerprint at the adapter.'],
  UPSTREAM_INVALID: ['The answer of the target cannot be read.', ''],
  UPSTREAM_FAILED: ['The target failed.', 'Try again; look at the target if it stays.'],
  UPSTREAM_TOO_LARGE: ['The answer is too large.', 'Ask for less.'],
  RELAY_OFFLINE: ['The host is not connected.', 'Fleet shows the command that starts its relay.'],
  RELAY_LOST: ['The host was lost during the call.', 'Try again once it is back.'],
  PROJECT_OFFLINE: ['The project is not connected.', 'Fleet shows the command that connects it.'],
  DEADLINE_EXCEEDED: ['Out of time.', ''],
  CANCELLED: ['Cancelled.', ''],
  INTERNAL: ['A fault of the gateway.', 'The correlation id finds it in the log.'],
});

const WAITING = ['RATE_LIMITED', 'UPSTREAM_RATE_LIMITED', 'OVERLOADED'];
const MILD = ['CANCELLED', 'NO_ANSWER', 'TARGET_REQUIRED', ...WAITING];

/**
 * What happened, why, and what to do next.
 * @param {any} problem @returns {{state: 'bad' | 'warn', icon: string, what: string, why: string, next: string}}
 */
export function nextStep(problem) {
  const reason = problem?.reason ?? 'INTERNAL';
  const [what, next] = WORDS[reason] ?? [problem?.title ? sentence(problem.title) : 'Not done.', ''];
  const said = /try again in \d/i.test(problem?.detail ?? '');
  const wait = problem?.retryAfter && !said ? `Try again in ${problem.retryAfter} s.` : '';
  const state = MILD.includes(reason) ? 'warn' : 'bad';
  const icon = WAITING.includes(reason) ? 'clock' : reason === 'NO_ANSWER' ? 'offline' : state === 'warn' ? 'warn' : 'refused';
  return { state, icon, what, why: sentence(problem?.detail || problem?.message || ''), next: [next, wait].filter(Boolean).join(' ') };
}

/** The contract writes lower case without a full stop; a page writes sentences. @param {string} text */
export function sentence(text) {
  const trimmed = text.trim();
  if (!trimmed) return '';
  const end = /[.!?…]$/.test(trimmed) ? '' : '.';
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + end;
}
