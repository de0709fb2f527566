// Arguments that show how a tool is called: what its schema gives as examples, for what it requires.

/**
 * @param {any} schema of an object
 * @returns {Record<string, any>}
 */
export function exampleOf(schema) {
  const required = schema?.required ?? [];
  return Object.fromEntries(required.map((/** @type {string} */ name) => [name, valueFor(schema.properties?.[name] ?? {})]));
}

/** @param {any} schema @returns {any} */
function valueFor(schema) {
  if (schema.examples?.length) return schema.examples[0];
  if ('default' in schema) return schema.default;
  if (schema.enum?.length) return schema.enum[0];
  switch (schema.type) {
    case 'integer':
    case 'number': return Math.max(schema.minimum ?? 1, 0);
    case 'boolean': return false;
    case 'array': return schema.items ? [valueFor(schema.items)] : [];
    case 'object': return exampleOf(schema);
    default: return 'text';
  }
}
