// The tools that a project brings, under the names they are published by.

import { html } from '../../html.js';
import { may } from '../../session.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Empty } from '../../parts/empty.js';
import { Note } from '../../parts/note.js';
import { Table } from '../../parts/table.js';

/** @typedef {import('./project.js').Tool} Tool */
/** @typedef {import('./project.js').Project} Project */

/** @type {import('../../parts/table.js').Column[]} */
const COLUMNS = [
  {
    key: 'name', label: 'Tool',
    render: ({ name, ownName, description }) => html`<code class="strong break">${name}</code>${name !== ownName && html` <span class="faint small">its own name: <code>${ownName}</code></span>`}<span class="sub break">${description}</span>`,
  },
  { key: 'reads', label: 'It says', className: 'md', render: ({ readOnly }) => (readOnly ? html`<${Badge} icon="eye">reads<//>` : html`<${Badge} state="write" icon="pen">may write<//>`) },
  { key: 'shown', label: 'Offered', render: ({ shown }) => (shown ? html`<${Badge} state="ok">offered<//>` : html`<${Badge}>hidden<//>`) },
];

/** When these tools stand in the list of a caller. @param {{project: Project, onDefault: () => void}} props */
function Listing({ project: { name, isDefault }, onDefault }) {
  if (isDefault) {
    return html`<${Note} state="accent" title="In the list of every caller.">
      ${name} is the default of the tenant; only a session that switched to another project has that one’s tools in its list.
    <//>`;
  }
  const action = may('change') && html`<${Button} small icon="check" onClick=${onDefault}>Make it the default<//>`;
  return html`<${Note} title="Not in every caller’s list." action=${action}>
    A list holds the tools of one project: of the one that the session switched to with <code>switch_project</code>, else of the tenant’s default.
    Calls reach the tools of ${name} from any session that names it as <code>project</code>.
  <//>`;
}

/** @param {{tools: Tool[], why: string, project: Project, onDefault: () => void}} props */
export function ToolsTable({ tools, why, project, onDefault }) {
  const shown = tools.filter((tool) => tool.shown).length;
  const hidden = tools.length - shown;
  return html`<${Card} title="Tools" note=${tools.length > 0 && `${shown} of ${tools.length} offered`} flush>
    ${tools.length > 0 && html`<div class="card-body"><${Listing} project=${project} onDefault=${onDefault} /></div>`}
    <${Table} label="Tools" columns=${COLUMNS} rows=${tools} rowKey="name"
      empty=${html`<${Empty} icon="tools" title="No tools now" text=${why || 'Its server has told of none.'} />`} />
    ${hidden > 0 && html`<p class="help card-body">Hidden are the ones that do not say that they only read, because the project may only be read.</p>`}
  <//>`;
}
