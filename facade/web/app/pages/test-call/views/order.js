// Rows in the order of one column. What a row lacks comes last, whichever way.
import { digits } from '../../../exact.js';

/** @typedef {{key: string, down: boolean}} Order */

const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/**
 * @param {any[]} rows
 * @param {((row: any) => any) | undefined} by
 * @param {boolean} down
 */
export function ordered(rows, by, down) {
  if (!by) return rows;
  const sign = down ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    if (missing(a) || missing(b)) return Number(missing(a)) - Number(missing(b));
    return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : words.compare(digits(a), digits(b)));
  });
}

/** @param {unknown} value */
const missing = (value) => value === undefined || value === null || value === '';
