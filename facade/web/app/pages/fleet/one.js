// One project: its tools, what it told, its settings, its relay.

import { html } from '../../html.js';
import { curl } from '../../api.js';
import { go, Link } from '../../router.js';
import { may } from '../../session.js';
import { useGet } from '../../use.js';
import { Badge, Dot } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { CopyButton } from '../../parts/code.js';
import { Empty } from '../../parts/empty.js';
import { EventLog } from '../../parts/log.js';
import { Icon } from '../../parts/icon.js';
import { KeyValue } from '../../parts/kv.js';
import { Note, Refusal } from '../../parts/note.js';
import { Page } from '../../parts/page.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Ago, Duration } from '../../parts/time.js';
import { setDefault } from './change.js';
import { line } from './events.js';
import { isStale, pathOf, standing } from './project.js';
import { RelaysTable } from './relays-table.js';
import { ToolsTable } from './tools-table.js';
import { Withheld } from './withheld.js';

/** @typedef {import('./project.js').Project} Project */

const EVERY_MS = 2000;

/** @param {Project} project @returns {[string, any][]} */
const facts = (project) => [
  ['Server', project.server || '–'],
  ['Revision of MCP', project.revision || '–'],
  ['Access', project.config.access === 'read_write' ? 'read and write' : 'read only'],
  ['Round trip', project.state === 'live' ? html`<${Duration} ms=${project.latencyMs} />` : '–'],
  ['Heartbeat', html`<${Ago} at=${project.lastSeen} never="not since the gateway started" />`],
  ['Last event', html`<span class=${isStale(project, Date.now()) ? 'warn' : undefined}><${Ago} at=${project.lastEvent} never="none was told" /></span>`],
  ['Longest call', `${project.config.timeoutSeconds} s`],
  ['When tools change', project.config.onDrift === 'block' ? 'kept back until accepted' : 'put on the record'],
  ['Registered', project.source === 'file' ? 'in projects.toml' : 'over the API'],
  ['Tools hash', project.toolsHash ? html`<code class="break">${project.toolsHash}</code>` : '–'],
];

/** @param {{project: Project, reload: () => void}} props */
function Actions({ project, reload }) {
  return html`<${CopyButton} small=${false} text=${curl('GET', pathOf(project.name))}>Copy as curl<//>
    ${may('change') &&
    html`${project.isDefault && html`<${Button} onClick=${() => setDefault(project, false).then(reload)}>No default project<//>`}
      <${Button} icon="pen" href=${`/adapters/${project.id}`}>Settings<//>`}`;
}

/** @param {{answer: any, error: any, reload: () => void}} props */
function Known({ answer: { project, tools, events, withheldTools }, error, reload }) {
  const relays = useGet('/api/fleet/relays', { every: EVERY_MS });
  const own = relays.data?.relays.filter((/** @type {{targetId: string}} */ { targetId }) => targetId === project.id);
  const { word, shade } = standing(project);
  const crumb = html`<${Link} href="/fleet">Fleet<//><${Icon} name="right" small /><span>${project.name}</span>`;
  const lead = html`<span class="row"><span class="state"><${Dot} state=${shade} />${word}</span>${project.isDefault && html`<${Badge} state="accent">default<//>`}${
    project.config.url && html`<code class="break">${project.config.url}</code>`}</span>`;
  return html`<${Page} title=${project.name} crumb=${crumb} lead=${lead} actions=${html`<${Actions} project=${project} reload=${reload} />`}>
    ${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    ${project.why && !project.withheldHash && project.state !== 'live' &&
    html`<${Note} state=${shade === 'bad' ? 'bad' : 'warn'} title=${`${project.name} is not live.`}
      action=${may('change') && ['waiting', 'revoked', 'locked', 'offline'].includes(project.state) && html`<${Button} small icon="host" href=${`/adapters/${project.id}`}>Start line<//>`}>${project.why}<//>`}
    ${project.withheldHash && html`<${Withheld} project=${project} withheld=${withheldTools} reload=${reload} />`}
    <div class="split two-one">
      <div class="stack">
        ${(tools.length > 0 || !project.withheldHash) && html`<${ToolsTable} tools=${tools} why=${project.why} project=${project} onDefault=${() => setDefault(project, true).then(reload)} />`}
        <${Card} title="Events" actions=${html`<${Badge} state="live">live<//>`} flush>
          ${events.length
            ? html`<div class="scroll" tabindex="0" role="region" aria-label="Events, newest first"><${EventLog} events=${events.map((/** @type {any} */ event) => line(event))} label="Events" /></div>`
            : html`<${Empty} icon="clock" title="No event yet" text="What its server tells outside of calls appears here as it comes." />`}
        <//>
      </div>
      <div class="stack">
        <${Card} title="Now"><${KeyValue} rows=${facts(project)} /><//>
        ${own?.length > 0 && html`<${RelaysTable} relays=${own} reload=${() => { relays.reload(); reload(); }} />`}
      </div>
    </div>
  <//>`;
}

/** @param {{name: string}} props */
export function One({ name }) {
  const { data, error, reload } = useGet(pathOf(name), { every: EVERY_MS });
  if (data) return html`<${Known} answer=${data} error=${error} reload=${reload} />`;
  if (error?.status === 404) {
    return html`<${Page} title="Fleet"><${Card} flush><${Empty} icon="search" title="No such project" text="It was removed, or the address is not whole."><${Button} onClick=${() => go('/fleet')}>The fleet<//><//><//><//>`;
  }
  return html`<${Page} title=${name}>${error ? html`<${Refusal} problem=${error} onRetry=${reload} />` : html`<${Card} title="Tools" flush><${Skeleton} rows=${5} /><//>`}<//>`;
}
