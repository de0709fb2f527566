// JSON Schema (2020-12) read as a form: which fields, in which order, and how each is asked for. Draws nothing.
import { digits, exactNumber, isExact, parseExact, writeExact } from './exact.js';

/**
 * @typedef {'text' | 'long' | 'number' | 'integer' | 'switch' | 'select' | 'secret' | 'list' | 'object' | 'json' | 'const'} Kind
 * @typedef {{key: string, pointer: string, kind: Kind, title: string, help: string, example: string, required: boolean,
 *   type: string, options: {value: any, label: string}[], minimum?: number, maximum?: number, initial: any, schema: any,
 *   fields: FormField[], maxLength?: number}} FormField
 */

/** How deep forms go; what is deeper is asked for as JSON. */
const DEEPEST = 3;

/** The fields of an object schema, in the order of its properties. @param {any} schema @param {any} [root] @param {string} [at] @returns {FormField[]} */
export function fieldsOf(schema, root = schema, at = '') {
  const object = resolved(schema, root);
  const required = new Set(object.required ?? []);
  return Object.entries(object.properties ?? {}).map(([key, each]) => fieldOf(key, each, required.has(key), root, at));
}

/** @param {string} key @param {any} given @param {boolean} required @param {any} root @param {string} at @returns {FormField} */
function fieldOf(key, given, required, root, at) {
  const schema = resolved(given, root);
  const pointer = `${at}/${escaped(key)}`;
  const options = optionsOf(schema, root);
  const deep = pointer.split('/').length > DEEPEST;
  const kind = deep && schema.properties ? 'json' : kindOf(schema, options);
  const example = (schema.examples ?? [])[0];
  return {
    key, pointer, kind, required, options, schema,
    title: schema.title ?? key,
    help: schema.description ?? '',
    example: exampleTold(example, kind),
    type: typeTold(schema, kind),
    minimum: schema.minimum ?? schema.exclusiveMinimum,
    maximum: schema.maximum ?? schema.exclusiveMaximum,
    maxLength: schema.maxLength,
    initial: schema.const ?? schema.default,
    fields: kind === 'object' ? fieldsOf(schema, root, pointer) : [],
  };
}

/** @param {any} example @param {Kind} kind */
function exampleTold(example, kind) {
  if (example === undefined) return '';
  if (kind === 'list' && Array.isArray(example)) return example.join(', ');
  return typeof example === 'string' ? example : JSON.stringify(example);
}

/** A name as a part of a JSON Pointer. @param {string} key */
export const escaped = (key) => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Follows references within the schema and merges what stands beside them; null as one of two types is left out. @param {any} schema @param {any} root @returns {any} */
function resolved(schema, root, depth = 0) {
  if (!schema || typeof schema !== 'object' || depth > 8) return {};
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema;
    return { ...resolved(followed($ref, root), root, depth + 1), ...beside };
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) {
    const { anyOf, oneOf, ...beside } = schema;
    const real = choices.filter((/** @type {any} */ each) => each?.type !== 'null');
    if (real.length === 1) return { ...resolved(real[0], root, depth + 1), ...beside };
  }
  if (Array.isArray(schema.type)) {
    const real = schema.type.filter((/** @type {string} */ each) => each !== 'null');
    return { ...schema, type: real.length === 1 ? real[0] : real };
  }
  return schema;
}

/** @param {string} ref @param {any} root */
function followed(ref, root) {
  if (!ref.startsWith('#')) return {};
  let at = root;
  for (const part of ref.slice(1).split('/').filter(Boolean)) at = at?.[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')];
  return at ?? {};
}

/** @param {any} schema @param {any} root */
function optionsOf(schema, root) {
  if (Array.isArray(schema.enum)) return schema.enum.filter((/** @type {any} */ value) => value !== null).map((/** @type {any} */ value) => ({ value, label: String(value) }));
  const choices = (schema.oneOf ?? schema.anyOf ?? []).map((/** @type {any} */ each) => resolved(each, root));
  if (choices.length && choices.every((/** @type {any} */ each) => 'const' in each)) {
    return choices.map((/** @type {any} */ each) => ({ value: each.const, label: each.title ?? String(each.const) }));
  }
  return [];
}

/** @param {any} schema @param {any[]} options @returns {Kind} */
function kindOf(schema, options) {
  if ('const' in schema) return 'const';
  if (schema.writeOnly) return 'secret';
  if (options.length) return 'select';
  if (schema.type === 'boolean') return 'switch';
  if (schema.type === 'integer' || schema.type === 'number') return schema.type;
  if (schema.type === 'array') return schema.items?.type === 'string' || schema.items?.enum ? 'list' : 'json';
  if (schema.properties) return 'object';
  if (schema.type === 'string') return isLong(schema) ? 'long' : 'text';
  return 'json';
}

/** Keys and certificates stand on several lines. @param {any} schema */
export const isLong = (schema) => schema.format === 'multiline' || schema.contentMediaType === 'application/x-pem-file' ||
  (schema.examples ?? []).some((/** @type {any} */ each) => typeof each === 'string' && each.includes('\n'));

/** @param {any} schema @param {Kind} kind */
function typeTold(schema, kind) {
  const low = schema.minimum ?? schema.exclusiveMinimum;
  const high = schema.maximum ?? schema.exclusiveMaximum;
  // Bounds wider than a number of JavaScript say nothing that the gateway does not say better.
  if (Number.isSafeInteger(low) && Number.isSafeInteger(high)) return `${low}–${high}`;
  if (kind === 'secret') return 'secret';
  if (kind === 'select') return 'choice';
  if (kind === 'list') return 'list';
  if (kind === 'switch') return '';
  return typeof schema.type === 'string' ? (schema.format && kind === 'text' ? schema.format : schema.type) : 'json';
}

/** What a form starts with: defaults and constants; nothing that is optional. @param {any} schema @param {any} [root] @returns {Record<string, any>} */
export function blank(schema, root = schema) {
  /** @type {Record<string, any>} */
  const value = {};
  for (const field of fieldsOf(schema, root)) {
    if (field.initial !== undefined) value[field.key] = field.initial;
    else if (field.kind === 'object' && field.required) value[field.key] = blank(field.schema, root);
    else if (field.kind === 'switch' && field.required) value[field.key] = false;
    else if (field.kind === 'select' && field.required && field.options.length === 1) value[field.key] = field.options[0]?.value;
  }
  return value;
}

/**
 * What was typed, as a value of the schema; what is not one stays text, so that the gateway says what is wrong with it.
 * Undefined: nothing was typed.
 * @param {FormField} field @param {string} text
 */
export function valueOf(field, text) {
  if (text === '') return undefined;
  switch (field.kind) {
    case 'integer':
    case 'number': return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text.trim()) ? exactNumber(text.trim()) : text;
    case 'list': return text.split(/\r?\n|,/).map((each) => each.trim()).filter(Boolean);
    case 'select': return field.options.find((each) => String(each.value) === text)?.value ?? text;
    case 'json': return jsonOr(text);
    default: return text;
  }
}

/** @param {string} text */
function jsonOr(text) {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** A value as it is typed. @param {FormField} field @param {any} value */
export function textOf(field, value) {
  if (value === undefined || value === null) return '';
  if (field.kind === 'list' && Array.isArray(value)) return value.join('\n');
  if (field.kind === 'json' && typeof value !== 'string') return writeExact(value, 2);
  return isExact(value) ? digits(value) : String(value);
}

/** The same object with one member changed; undefined takes it out. @param {Record<string, any>} value @param {string} key @param {any} member */
export function withMember(value, key, member) {
  const { [key]: _, ...rest } = value ?? {};
  return member === undefined ? rest : { ...value, [key]: member };
}

/** The violations of a refusal by the pointer of their field; required members are told at the member. @param {{pointer: string, keyword?: string, message: string}[]} violations @param {string} [below] only those below this pointer, which is cut */
export function errorsByPointer(violations, below = '') {
  /** @type {Record<string, string>} */
  const errors = {};
  for (const { pointer, message } of violations ?? []) {
    if (below && pointer !== below && !pointer.startsWith(`${below}/`)) continue;
    const at = pointer.slice(below.length);
    errors[at] = errors[at] ? `${errors[at]}; ${message}` : message;
  }
  return errors;
}
