// Tables that are asked for words from elsewhere: they know what was put in and nothing that objects inherit, so that
// `constructor` is as unknown as any other word.

/**
 * @template {Record<string, any>} T
 * @param {T} entries
 * @returns {T}
 */
export const lookup = (entries) => Object.assign(Object.create(null), entries);
