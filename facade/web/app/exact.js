// JSON whose numbers keep their digits: ids of 64 bits are wider than a number of JavaScript. A number that would be
// rounded is held as the text it had, in the engine's own raw JSON. Touches no page and no network.

/** @typedef {{rawJSON: string}} ExactNumber a number by its digits */

const engine = /** @type {{rawJSON?: (text: string) => ExactNumber, isRawJSON?: (value: unknown) => boolean}} */ (
  /** @type {unknown} */ (JSON)
);

/**
 * Parses JSON; numbers that JavaScript would change become exact numbers.
 * @param {string} text
 * @returns {any}
 */
export function parseExact(text) {
  const reviver = /** @type {any} */ (keep);
  return JSON.parse(text, reviver);
}

/**
 * Writes JSON with the digits that were read.
 * @param {unknown} value
 * @param {number} [indent]
 */
export function writeExact(value, indent) {
  return JSON.stringify(value, null, indent) ?? 'null';
}

/**
 * A whole number as the user typed it: a number where that is exact, its digits otherwise.
 * @param {string} text
 * @returns {number|ExactNumber}
 */
export function exactNumber(text) {
  const number = Number(text);
  return unchanged(number, text) || !engine.rawJSON ? number : engine.rawJSON(text);
}

/**
 * @param {unknown} value
 * @returns {value is ExactNumber}
 */
export function isExact(value) {
  return typeof value === 'object' && value !== null && engine.isRawJSON?.(value) === true;
}

/**
 * A number's digits, exact or not.
 * @param {unknown} value
 */
export function digits(value) {
  return isExact(value) ? value.rawJSON : String(value);
}

/**
 * @param {string} _key
 * @param {unknown} value
 * @param {{source?: string}} [context]
 */
function keep(_key, value, context) {
  if (typeof value !== 'number' || !context?.source || unchanged(value, context.source)) return value;
  return engine.rawJSON ? engine.rawJSON(context.source) : value;
}

/**
 * Fractions are measurements, which nobody compares digit by digit; whole numbers may be ids.
 * @param {number} number
 * @param {string} text
 */
function unchanged(number, text) {
  return !/^-?\d+$/.test(text) || Number.isSafeInteger(number);
}
