// Reads the canonical bytes of a row: one byte of version, then fifteen fields, each a length and its content.
//
// Pure. Its only use is to hold what the page shows against what was hashed; the layout stands in `docs/audit.md`.

/** @typedef {import('./events.js').AuditEvent} AuditEvent */

/** A field with its place in the bytes. @typedef {{name: string, from: number, to: number, value: string}} Field */

const NAMES = [
  'event id', 'event', 'time', 'principal', 'role', 'facade', 'adapter type', 'target', 'capability', 'arguments hash',
  'result', 'reason', 'duration', 'correlation', 'detail',
];

/** The fields in `bytes`, or why there are none. @returns {{fields: Field[]} | {fault: string}} */
export function decode(/** @type {Uint8Array} */ bytes) {
  if (bytes[0] !== 1) return { fault: `layout ${bytes[0] ?? 'none'} is not known to this page` };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  /** @type {Field[]} */
  const fields = [];
  let at = 1;
  for (const name of NAMES) {
    if (at + 4 > bytes.length) return { fault: `the bytes end in the length of "${name}"` };
    const from = at + 4;
    const to = from + view.getUint32(at);
    if (to > bytes.length) return { fault: `the bytes end in "${name}"` };
    fields.push({ name, from, to, value: valueOf(name, bytes.subarray(from, to)) });
    at = to;
  }
  return at === bytes.length ? { fields } : { fault: 'the bytes go on after the last field' };
}

/** The ranges of the lengths, to be marked in a view of the bytes. @returns {[number, number][]} */
export const lengths = (/** @type {Field[]} */ fields) => fields.map((field) => [field.from - 4, field.from]);

/** The fields in which `event`, as the API tells it, says another thing than the bytes. @returns {string[]} */
export function differences(/** @type {Field[]} */ fields, /** @type {AuditEvent} */ event) {
  /** @type {Record<string, string>} */
  const told = {
    event: event.event, time: event.time, principal: event.principal, role: event.role, facade: event.facade,
    'adapter type': event.adapterType, target: event.targetId, capability: event.capability,
    'arguments hash': event.paramsHash, result: event.result, reason: event.reason,
    duration: String(event.durationMs), correlation: event.correlationId,
  };
  return fields.filter((field) => field.name in told && told[field.name] !== field.value).map((field) => field.name);
}

function valueOf(/** @type {string} */ name, /** @type {Uint8Array} */ content) {
  if (name === 'arguments hash') return Array.from(content, (b) => b.toString(16).padStart(2, '0')).join('');
  if (name === 'time') return content.length === 8 ? rfc3339(number(content)) : '';
  if (name === 'duration') return content.length === 8 ? String(number(content)) : '';
  return new TextDecoder().decode(content);
}

const number = (/** @type {Uint8Array} */ content) =>
  new DataView(content.buffer, content.byteOffset, content.byteLength).getBigInt64(0);

/** Microseconds since 1970 as the API writes them: UTC, six digits. */
function rfc3339(/** @type {bigint} */ us) {
  const rest = ((us % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = (us - rest) / 1_000_000n;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${String(rest).padStart(6, '0')}Z`;
}
