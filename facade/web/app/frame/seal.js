// How far the record is sealed, on every page. Absent where nothing is told of the record.
import { html, useEffect } from '../html.js';
import { Link } from '../router.js';
import { me } from '../session.js';
import { useGet, useNow } from '../use.js';
import { ago, figure } from '../reading.js';
import { Icon } from '../parts/icon.js';
import { forgetSealed, recordNow, sealing, tell } from '../sealed.js';

const EVERY_MS = 15000;

export function Seal() {
  const { data } = useGet(me.value?.role === 'agent' ? null : '/api/overview', { query: { minutes: 1 }, every: EVERY_MS });
  useEffect(() => tell(data?.record), [data]);
  useEffect(() => forgetSealed, []);
  const record = recordNow();
  return record?.checkpointAt ? html`<${Sealed} record=${record} />` : html`<span class="seal-none"></span>`;
}

/** @param {{record: import('../sealed.js').RecordTold}} props */
function Sealed({ record }) {
  const now = useNow(1000);
  const { seq, since, late } = sealing(record, now);
  return html`
    <${Link} class=${late ? 'seal stale' : 'seal'} href="/audit" title="The newest checkpoint of this tenant's record, and the rows since">
      <${Icon} name=${late ? 'clock' : 'seal'} /><b>Sealed ${ago(Date.parse(record.checkpointAt ?? ''), now)}</b>
      <code>seq ${figure(seq)}${since > 0 ? ` · ${figure(since)} since` : ''}${late ? ', late' : ''}</code>
    <//>`;
}
