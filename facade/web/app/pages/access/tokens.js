// The tokens of this tenant.
import { html } from '../../html.js';
import { useGet } from '../../use.js';
import { Card } from '../../parts/card.js';
import { Table } from '../../parts/table.js';
import { Empty } from '../../parts/empty.js';
import { Refusal } from '../../parts/note.js';
import { Ago } from '../../parts/time.js';

export function Tokens() {
  const { data, error, loading, reload } = useGet('/api/tokens');
  const columns = [
    { key: 'name', label: 'Name', className: 'name' },
    { key: 'role', label: 'Role' },
    { key: 'lastUsedAt', label: 'Last use', render: (/** @type {any} */ token) => html`<${Ago} at=${token.lastUsedAt} />` },
  ];
  return html`
    ${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    <${Card} title="Tokens" flush>
      <${Table} label="Tokens" columns=${columns} rows=${data?.tokens} rowKey="id" loading=${loading} empty=${html`<${Empty} icon="key" title="No tokens yet" />`} />
    <//>`;
}
