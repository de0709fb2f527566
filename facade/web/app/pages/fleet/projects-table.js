// The projects: how each does, and what may be done to it.

import { html } from '../../html.js';
import { go, Link } from '../../router.js';
import { may } from '../../session.js';
import { Badge, Dot } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Menu } from '../../parts/popover.js';
import { Note } from '../../parts/note.js';
import { Table } from '../../parts/table.js';
import { Ago, Duration } from '../../parts/time.js';
import { setDefault, setEnabled } from './change.js';
import { isStale, standing } from './project.js';

/** @typedef {import('./project.js').Project} Project */

/** Where a project has its page. @param {Project} project */
const pageOf = ({ name }) => `/fleet/${encodeURIComponent(name)}`;

/** @param {{project: Project}} props */
function Name({ project }) {
  const { word, shade } = standing(project);
  return html`<span class="state"><${Dot} state=${shade} />
    <span><${Link} class="rowlink name" href=${pageOf(project)}>${project.name}<//>
      ${project.isDefault && html` <${Badge} state="accent">default<//>`}
      ${project.withheldHash && html` <${Badge} state="warn" icon="pause">list kept back<//>`}
      <span class="sub">${word}</span></span></span>`;
}

/** What is said below a row. @param {Project} project */
function below(project) {
  if (project.withheldHash) {
    return html`<${Note} state="warn" title=${`The tools of ${project.name} have changed.`} action=${html`<${Button} small href=${pageOf(project)}>See what changed<//>`}>
      The list is kept back: it shows no tools and takes no calls until an admin accepts it.
    <//>`;
  }
  if (!['server_down', 'locked', 'revoked'].includes(project.state)) return undefined;
  return html`<${Note} state="bad" title=${`${project.name}: ${standing(project).word}.`}
    action=${['locked', 'revoked'].includes(project.state) && may('change') && html`<${Button} small href=${`/adapters/${project.id}`}>Enrol anew<//>`}>${project.why}<//>`;
}

/** @param {{project: Project, reload: () => void}} props */
function More({ project, reload }) {
  const then = (/** @type {Promise<unknown>} */ change) => change.then(reload);
  const off = project.state === 'disabled';
  return html`<${Menu} bare label=${`More for ${project.name}`} items=${[
    { label: 'Open', icon: 'right', href: pageOf(project) },
    !project.isDefault && !off && { label: 'Make it the default', icon: 'check', onSelect: () => then(setDefault(project, true)) },
    project.isDefault && { label: 'No default project', icon: 'minus', onSelect: () => then(setDefault(project, false)) },
    { label: 'Settings and start line', icon: 'pen', href: `/adapters/${project.id}` },
    { label: off ? 'Switch on' : 'Switch off', icon: off ? 'play' : 'pause', onSelect: () => then(setEnabled(project, off)) },
  ]} />`;
}

/** @param {{projects: Project[], reload: () => void}} props */
export function ProjectsTable({ projects, reload }) {
  const now = Date.now();
  /** @type {import('../../parts/table.js').Column[]} */
  const columns = [
    { key: 'name', label: 'Project', render: (project) => html`<${Name} project=${project} />` },
    { key: 'latency', label: 'Latency', className: 'num', render: ({ state, latencyMs }) => html`<code class="dim">${state === 'live' ? html`<${Duration} ms=${latencyMs} />` : '–'}</code>` },
    { key: 'seen', label: 'Heartbeat', className: 'num sm dim', render: ({ lastSeen }) => html`<${Ago} at=${lastSeen} never="–" />` },
    { key: 'event', label: 'Last event', className: 'num dim', render: (project) => html`<span class=${isStale(project, now) ? 'warn' : undefined}><${Ago} at=${project.lastEvent} never="–" /></span>` },
    { key: 'tools', label: 'Tools', className: 'num md dim' },
    {
      key: 'access', label: 'Access', className: 'md',
      render: ({ config }) => (config.access === 'read_write' ? html`<${Badge} state="write" icon="pen">write<//>` : html`<${Badge} icon="eye">read<//>`),
    },
    ...(may('change') ? [{ key: 'more', label: 'Actions', hideLabel: true, className: 'num', render: (/** @type {Project} */ project) => html`<${More} project=${project} reload=${reload} />` }] : []),
  ];
  const register = may('change') && html`<${Button} small icon="plus" href="/adapters/new/project">Register project<//>`;
  return html`<${Card} title="Projects" actions=${html`<${Badge} state="live">live<//>${register}`} flush>
    <${Table} label="Projects" columns=${columns} rows=${projects} rowKey="name" detail=${below} onOpen=${(/** @type {Project} */ project) => go(pageOf(project))} />
  <//>`;
}
