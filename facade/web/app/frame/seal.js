// The age of the last checkpoint, on every page. Absent where nothing is told of the record.
import { html } from '../html.js';
import { Link } from '../router.js';
import { me } from '../session.js';
import { useGet, useNow } from '../use.js';
import { figure, span } from '../reading.js';
import { Icon } from '../parts/icon.js';

const EVERY_MS = 15000;
/** A checkpoint is due every minute while there are rows; later than this it is late. */
const LATE_S = 180;

export function Seal() {
  const { data } = useGet(me.value?.role === 'agent' ? null : '/api/overview', { query: { minutes: 1 }, every: EVERY_MS });
  const record = data?.record;
  return record?.checkpointAt ? html`<${Sealed} record=${record} />` : html`<span class="seal-none"></span>`;
}

/** @param {{record: {seq: number | string, checkpointSeq: number | string, checkpointAt: string, broken?: number}}} props */
function Sealed({ record }) {
  const now = useNow(1000);
  const age = Math.max(0, Math.round((now - Date.parse(record.checkpointAt)) / 1000));
  const open = Number(record.seq) - Number(record.checkpointSeq);
  const late = age > LATE_S && open > 0;
  return html`
    <${Link} class=${late ? 'seal stale' : 'seal'} href="/audit" title="The audit record of this tenant">
      <${Icon} name=${late ? 'clock' : 'seal'} /><b>Sealed ${age < 2 ? 'just now' : `${span(age)} ago`}</b>
      <code>${late ? 'checkpoint late' : `seq ${figure(Number(record.checkpointSeq))}`}</code>
    <//>`;
}
