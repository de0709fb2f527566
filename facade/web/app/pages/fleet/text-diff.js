// Two texts line by line: what went, what came, what stayed. Pure.

/** @typedef {{kind: 'same' | 'was' | 'now', text: string}} Line */

/** Lines of each side that are compared; beyond, the sides stand one after the other. */
const MOST = 400;

/** A definition in lines, keys in their own order; what was cut is no JSON any more and stays as it is. @param {string} text @returns {string[]} */
export function laidOut(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2).split('\n');
  } catch {
    return text.split('\n');
  }
}

/**
 * The shortest way from one to the other, by the longest common run of lines.
 * @param {string[]} was @param {string[]} now @returns {Line[]}
 */
export function compared(was, now) {
  /** @param {Line['kind']} kind @returns {(text: string) => Line} */
  const as = (kind) => (text) => ({ kind, text });
  if (was.length > MOST || now.length > MOST) return [...was.map(as('was')), ...now.map(as('now'))];
  const common = lengths(was, now);
  /** @type {Line[]} */
  const lines = [];
  let [i, j] = [0, 0];
  while (i < was.length && j < now.length) {
    if (was[i] === now[j]) {
      lines.push({ kind: 'same', text: now[j] ?? '' });
      i += 1;
      j += 1;
    } else if (at(common, i + 1, j) >= at(common, i, j + 1)) {
      lines.push({ kind: 'was', text: was[i] ?? '' });
      i += 1;
    } else {
      lines.push({ kind: 'now', text: now[j] ?? '' });
      j += 1;
    }
  }
  return [...lines, ...was.slice(i).map(as('was')), ...now.slice(j).map(as('now'))];
}

/** @param {number[][]} table @param {number} i @param {number} j */
const at = (table, i, j) => table[i]?.[j] ?? 0;

/** How many lines are common from each place to the end. @param {string[]} was @param {string[]} now @returns {number[][]} */
function lengths(was, now) {
  const table = Array.from({ length: was.length + 1 }, () => new Array(now.length + 1).fill(0));
  for (let i = was.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const row = table[i];
      if (row) row[j] = was[i] === now[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}
