// The fields of a row in words.

import { html } from '../../html.js';
import { Link } from '../../router.js';
import { KeyValue } from '../../parts/kv.js';
import { dialect, grouped, isMinute, often, times, unreadable } from './events.js';

/** @param {{row: import('./events.js').AuditEvent, nameOf: (id: string) => string}} props */
export function Fields({ row, nameOf }) {
  if (unreadable(row)) {
    return html`<p class="bad">The bytes of this row cannot be read: they were changed, or a newer version wrote them. Verify tells which.</p>`;
  }
  const only = (/** @type {string} */ key, /** @type {string} */ value, /** @type {any} */ shown) =>
    html`<${Link} href=${`/audit?${new URLSearchParams({ [key]: value })}`} title="All rows of it">${shown ?? html`<code>${value}</code>`}<//>`;
  /** @type {[string, any][]} */
  const rows = [
    ['Event', html`<code>${row.event}</code>`],
    ['Tool', row.capability && only('tool', row.capability, html`<code>${row.capability}</code>`)],
    ['Reason', row.reason && html`<code>${row.reason}</code>`],
    ['Time', isMinute(row) ? html`<code>${row.time.slice(0, 16)}Z</code> <span class="faint small">a minute, counted: ${often(times(row))}; written when it had ended</span>` : html`<code>${row.time}</code>`],
    ['Principal', row.principal && html`${only('principal', row.principal, row.principal)} <span class="faint small">role ${row.role || 'none'}</span>`],
    ['Dialect', row.facade && dialect(row.facade)],
    ['Target', row.targetId && html`${only('targetId', row.targetId, nameOf(row.targetId))} <span class="faint small">${row.adapterType}</span>`],
    ['Took', row.durationMs > 0 && html`<span class="num">${grouped(row.durationMs)} ms</span> <span class="faint small">from admission to settlement</span>`],
    ['Correlation', row.correlationId && only('correlationId', row.correlationId, html`<code>${row.correlationId}</code>`)],
    ['Arguments', row.paramsHash && html`<code class="break">hmac:${row.paramsHash}</code> <span class="faint small">never stored in clear</span>`],
  ];
  return html`<${KeyValue} rows=${rows.filter(([, value]) => value)} />`;
}
