// From the answer of a refused change to where it is shown: the field, the stages, the title.

import { sentence } from '../../refusals.js';
import { failedAt } from './target.js';
import { fieldOf } from './kinds.js';
import { lookup } from '../../lookup.js';

/** @typedef {import('../../api.js').Problem} Problem */
/** @typedef {import('./target.js').Validation} Validation */

/** @type {Record<string, string>} */
const TITLES = lookup({
  ROLE_VIOLATION: 'the credential does not have exactly the role it should',
  SCOPE_VIOLATION: 'the credential does not have exactly the scopes it should',
  CREDENTIAL_REJECTED: 'the credential is not accepted there',
  UPSTREAM_UNREACHABLE: 'it cannot be reached',
  UPSTREAM_TIMEOUT: 'it did not answer in time',
  UPSTREAM_TLS: 'its certificate is not accepted',
  ARGUMENTS_INVALID: 'the form is not complete',
  CONFLICT: 'the name is taken',
  SECRET_UNAVAILABLE: 'the store of secrets did not answer',
  AUDIT_UNAVAILABLE: 'the audit record cannot be written',
});

/** What a refusal is called. @param {Problem} problem @returns {string} */
export function titleOf(problem) {
  const validation = validationOf(problem);
  if (validation?.wider.length) return 'the credential can do more than read';
  if (failedAt(validation?.stages ?? [])?.name === 'authenticate') return 'the credential is not accepted there';
  return TITLES[problem.reason] ?? problem.title ?? 'the gateway refused';
}

/** What the checks found before it was refused. @param {Problem} problem @returns {Validation | undefined} */
export const validationOf = (problem) => /** @type {any} */ (problem.validation) ?? undefined;

/**
 * Every place that is wrong, by JSON Pointer into what was sent.
 * @param {Problem} problem @param {string} type @returns {Record<string, string>}
 */
export function errorsOf(problem, type) {
  /** @type {Record<string, string>} */
  const errors = {};
  const failed = failedAt(validationOf(problem)?.stages ?? []);
  for (const { pointer, keyword, message } of problem.violations ?? []) {
    // The check says the same in fewer words.
    errors[pointer] ??= sentence(keyword === 'validated' && failed?.reason ? failed.reason : message);
  }
  if (Object.keys(errors).length) return errors;
  const field = failed && (failed.pointer ?? fieldOf(type, failed.name));
  if (field) errors[field] = sentence(failed.reason ?? problem.detail);
  else if (problem.reason === 'CONFLICT') errors['/name'] = sentence(problem.detail);
  return errors;
}

/**
 * The errors below one member, with pointers into that member.
 * @param {Record<string, string>} errors @param {string} member @returns {Record<string, string>}
 */
export const below = (errors, member) =>
  Object.fromEntries(
    Object.entries(errors)
      .filter(([pointer]) => pointer.startsWith(`/${member}/`))
      .map(([pointer, text]) => [pointer.slice(member.length + 1), text]),
  );

/**
 * How many fields of the form are marked by these errors; some pointers are of no field of it.
 * @param {Record<string, string>} errors @param {{configSchema: any, credentialSchema?: any}} type @param {boolean} [secret] whether the fields of the credential are shown
 */
export function marked(errors, { configSchema, credentialSchema }, secret = true) {
  const names = (/** @type {string} */ member, /** @type {any} */ schema) => Object.keys(schema?.properties ?? {}).map((key) => `/${member}/${key}`);
  const fields = ['/name', ...names('config', configSchema), ...(secret ? names('credential', credentialSchema) : [])];
  return Object.keys(errors).filter((pointer) => fields.includes(pointer)).length;
}
