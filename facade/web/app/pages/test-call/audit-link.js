// The way from a call to its row on the record.
import { html } from '../../html.js';
import { Link } from '../../router.js';
import { useGet } from '../../use.js';

/** @param {{call: import('./state.js').Call}} props */
export function AuditLink({ call }) {
  const { data, error } = useGet(call.id ? '/api/audit/events' : null, { query: { correlationId: call.id } });
  const row = data?.events?.[0];
  const all = `/audit?correlationId=${call.id}`;
  if (!call.id && call.problem?.status === 0) return html`<span>Whether it was admitted is not known here; if so, </span><${Link} href="/audit">the record<//><span>has its row.</span>`;
  if (!call.id) return html`<span>It was not admitted, so it has no row of its own.</span>`;
  if (row) return html`<${Link} href=${all}>Audit row ${Number(row.seq).toLocaleString('en-GB')}<//><span>${row.event}${call.phase === 'answered' && ', settled before release'}</span>`;
  if (error) return html`<${Link} href=${all}>Its audit row<//>`;
  if (!data) return html`<span>Looking for its audit row</span>`;
  if (call.phase === 'cancelled') return html`<span>Nothing was released, so no audit row is left behind.</span>`;
  return html`<${Link} href="/audit?result=refused">Counted on the record<//><span>one row a minute for refusals of this kind</span>`;
}
