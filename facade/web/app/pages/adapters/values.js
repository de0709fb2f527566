// What a form of a target holds, and what of it is sent. Pure.

/** @typedef {{name: string, config: Record<string, any>, credential: Record<string, any>}} Values */

/** The part of a schema of an object that has these members. @param {any} schema @param {(name: string) => boolean} wanted */
export function part(schema, wanted) {
  const properties = Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => wanted(name)));
  return { ...schema, properties, required: (schema.required ?? []).filter(wanted) };
}

/** What was left empty is not sent. @param {any} value @returns {any} */
export function filled(value) {
  if (!value || typeof value !== 'object' || Array.isArray(value)) return value;
  const empty = (/** @type {any} */ one) => one === '' || one === undefined || one === null || (Array.isArray(one) && !one.length);
  return Object.fromEntries(Object.entries(value).filter(([, one]) => !empty(one)));
}

/** What is sent: what is different, and the credential where one was typed. @param {import('./target.js').Target} target @param {Values} values */
export function difference(target, { name, config, credential }) {
  const settings = filled(config);
  const secret = filled(credential);
  return {
    ...(name !== target.name && { name }),
    ...(JSON.stringify(settings) !== JSON.stringify(filled(target.config)) && { config: settings }),
    ...(Object.keys(secret).length > 0 && { credential: secret }),
  };
}

/** @typedef {{title: string, required: string[], names: string[]}} Way */

/** The ways to give a credential that a schema has; none where it has no choice. @param {any} schema @returns {Way[]} */
export function ways(schema) {
  const all = Object.keys(schema?.properties ?? {});
  return (schema?.oneOf ?? []).map((/** @type {any} */ one) => ({
    title: one.title ?? '',
    required: one.required ?? [],
    names: all.filter((name) => one.properties?.[name] !== false),
  }));
}

const REQUIRED = 'This is required.';

/** Whether nothing was given. @param {any} value */
const isMissing = (value) => value === undefined || value === null || (typeof value === 'string' && !value.trim()) || (Array.isArray(value) && !value.length);

/** The members of a credential that must be given: of the way that was begun, else of each. @param {any} schema @param {Record<string, any>} value @returns {string[]} */
function requiredOf(schema, value) {
  const all = ways(schema);
  if (!all.length) return schema?.required ?? [];
  const begun = all.filter(({ names, required }) => required.some((name) => names.includes(name) && !isMissing(value[name])));
  return (begun.length ? begun : all).flatMap(({ required }) => required);
}

/**
 * Every required field that is empty, by JSON Pointer into what would be sent.
 * @param {{configSchema: any, credentialSchema?: any}} type @param {Values} values @param {boolean} [kept] a credential is stored
 * @returns {Record<string, string>}
 */
export function missing({ configSchema, credentialSchema }, { name, config, credential }, kept = false) {
  const secret = kept && !Object.keys(filled(credential)).length ? [] : requiredOf(credentialSchema, credential);
  /** @type {[string, any][]} */
  const asked = [
    ['/name', name],
    ...(configSchema.required ?? []).map((/** @type {string} */ key) => /** @type {[string, any]} */ ([`/config/${key}`, config[key]])),
    ...secret.map((key) => /** @type {[string, any]} */ ([`/credential/${key}`, credential[key]])),
  ];
  return Object.fromEntries(asked.filter(([, value]) => isMissing(value)).map(([pointer]) => [pointer, REQUIRED]));
}

/** What is allowed without asking on a gateway that only its own machine reaches. */
const LOCAL = ['allowLoopback', 'allowHttp'];

/** The same schema, saying why what is not safe everywhere is on by itself here. @param {any} schema @returns {any} */
export function withReasons(schema) {
  const told = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const { default: initial, description = '' } = /** @type {any} */ (property);
    if (!LOCAL.includes(name) || initial !== true) return [name, property];
    return [name, { .../** @type {any} */ (property), description: `${description} On by itself, because only this machine reaches this gateway.`.trim() }];
  });
  return { ...schema, properties: Object.fromEntries(told) };
}
