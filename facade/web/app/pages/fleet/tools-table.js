// The tools that a project brings, under the names they are published by.

import { html } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Card } from '../../parts/card.js';
import { Empty } from '../../parts/empty.js';
import { Table } from '../../parts/table.js';

/** @typedef {import('./project.js').Tool} Tool */

/** @type {import('../../parts/table.js').Column[]} */
const COLUMNS = [
  {
    key: 'name', label: 'Tool',
    render: ({ name, ownName, description }) => html`<code class="strong break">${name}</code>${name !== ownName && html` <span class="faint small">its own name: <code>${ownName}</code></span>`}<span class="sub break">${description}</span>`,
  },
  { key: 'reads', label: 'It says', className: 'md', render: ({ readOnly }) => (readOnly ? html`<${Badge} icon="eye">reads<//>` : html`<${Badge} state="write" icon="pen">may write<//>`) },
  { key: 'shown', label: 'Listed', render: ({ shown }) => (shown ? html`<${Badge} state="ok">listed<//>` : html`<${Badge}>hidden<//>`) },
];

/** @param {{tools: Tool[], why: string}} props */
export function ToolsTable({ tools, why }) {
  const shown = tools.filter((tool) => tool.shown).length;
  const hidden = tools.length - shown;
  return html`<${Card} title="Tools" note=${tools.length > 0 && `${shown} of ${tools.length} listed`} flush>
    <${Table} label="Tools" columns=${COLUMNS} rows=${tools} rowKey="name"
      empty=${html`<${Empty} icon="tools" title="No tools now" text=${why || 'Its server has told of none.'} />`} />
    ${hidden > 0 && html`<p class="help card-body">Hidden are the ones that do not say that they only read, because the project may only be read.</p>`}
  <//>`;
}
