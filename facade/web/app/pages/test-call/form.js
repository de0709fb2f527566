// What stands in the form: for each tool the arguments, as fields or as raw JSON, and the target. Changing between
// the two forms, or between tools and back, loses nothing.
import { parseExact, writeExact } from '../../exact.js';

/** @typedef {{value: any, raw: string|null, target: string}} Draft `raw` is the text while raw JSON is edited */

/** @returns {Draft} */
export const emptyDraft = () => ({ value: {}, raw: null, target: '' });

/**
 * The arguments that would be sent, or what is wrong with the text.
 * @param {Draft} draft
 * @returns {{args: any, error: null} | {args: null, error: string}}
 */
export function argumentsOf(draft) {
  if (draft.raw === null) return { args: filled(draft.value), error: null };
  try {
    const args = parseExact(draft.raw.trim() || '{}');
    if (args && typeof args === 'object' && !Array.isArray(args)) return { args, error: null };
    return { args: null, error: 'arguments are one JSON object: { … }' };
  } catch (error) {
    return { args: null, error: `this is not JSON: ${error instanceof Error ? error.message : error}` };
  }
}

/**
 * Changes to raw JSON or back to fields. Text that is no object stays as it is, with its error.
 * @param {Draft} draft
 * @param {boolean} raw
 * @returns {Draft}
 */
export function toggled(draft, raw) {
  const { args } = argumentsOf(draft);
  if (raw) return { ...draft, raw: writeExact(args, 2) };
  return args ? { ...draft, raw: null, value: args } : draft;
}

/**
 * Arguments without the fields that were left empty.
 * @param {any} value
 */
function filled(value) {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, each]) => each !== undefined && each !== ''));
}

/**
 * What the gateway said of each field, by pointer. A missing one is told of its object; it belongs to the field.
 * @param {import('../../api.js').Problem|null} problem
 * @returns {Record<string, string>}
 */
export function errorsOf(problem) {
  /** @type {Record<string, string>} */
  const errors = {};
  if (problem?.reason !== 'ARGUMENTS_INVALID') return errors;
  for (const { pointer, keyword, message } of problem.violations) {
    const missing = keyword === 'required' ? /^"(.+)" is a required/.exec(message)?.[1] : undefined;
    const at = missing === undefined ? pointer : `${pointer}/${missing.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    errors[at] = missing === undefined ? message : 'this one is needed';
  }
  return errors;
}

/**
 * The schema of the form: the target has a field of its own.
 * @param {any} schema
 */
export function withoutTarget(schema) {
  const { target_id: _, ...properties } = schema.properties ?? {};
  return { ...schema, properties };
}
