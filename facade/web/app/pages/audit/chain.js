// Weaves rows into what the table shows: rows that the filter hides leave a gap, the newest checkpoint stands at its
// place. Pure.

/**
 * @typedef {import('./events.js').AuditEvent} AuditEvent
 * @typedef {{kind: 'row', row: AuditEvent} | {kind: 'gap', rows: number, above: number}
 *   | {kind: 'checkpoint', seq: number, at: string}} Link
 */

/**
 * The links of the chain, newest first.
 * @param {AuditEvent[]} rows newest first
 * @param {{head?: number, end?: boolean, checkpoint?: {seq: number, at: string}}} known the newest place of the record,
 *   whether nothing follows, and the newest checkpoint
 * @returns {Link[]}
 */
export function weave(rows, known) {
  /** @type {Link[]} */
  const links = [];
  let above = (known.head ?? rows[0]?.seq ?? 0) + 1;
  let sealed = known.checkpoint?.seq ? known.checkpoint : undefined;
  for (const row of rows) {
    const seal = sealed && sealed.seq >= row.seq ? sealed : undefined;
    if (seal && seal.seq >= above - 1) links.push(checkpoint(seal));
    if (above - row.seq > 1) links.push({ kind: 'gap', rows: above - row.seq - 1, above });
    if (seal && seal.seq < above - 1) links.push(checkpoint(seal));
    if (seal) sealed = undefined;
    links.push({ kind: 'row', row });
    above = row.seq;
  }
  if (known.end && rows.length && above > 1) links.push({ kind: 'gap', rows: above - 1, above });
  return links;
}

/** @returns {Link} */
const checkpoint = (/** @type {{seq: number, at: string}} */ seal) => ({ kind: 'checkpoint', seq: seal.seq, at: seal.at });

/** `rows` with `more` put in, newest first, each place once. */
export function merge(/** @type {AuditEvent[]} */ rows, /** @type {AuditEvent[]} */ more) {
  const places = new Map([...rows, ...more].map((row) => [row.seq, row]));
  return [...places.values()].sort((a, b) => b.seq - a.seq);
}
