// The whole fleet: figures, projects, relays, pipelines, events.

import { html } from '../../html.js';
import { curl } from '../../api.js';
import { may } from '../../session.js';
import { CopyButton } from '../../parts/code.js';
import { Refusal } from '../../parts/note.js';
import { Page } from '../../parts/page.js';
import { Card } from '../../parts/card.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Events } from './events.js';
import { Figures } from './figures.js';
import { FirstUplink } from './first-uplink.js';
import { Pipelines } from './pipelines.js';
import { ProjectsTable } from './projects-table.js';
import { RelaysTable } from './relays-table.js';
import { useFleet } from './use-fleet.js';

const LEAD = 'Projects and hosts dial out to Toolgate; nothing here is ever dialled.';

export function All() {
  const { projects, relays, error, reload } = useFleet();
  const loading = !error && (!projects || !relays);
  const some = projects && projects.length > 0;
  return html`<${Page} title="Fleet" lead=${LEAD} actions=${html`<${CopyButton} small=${false} text=${curl('GET', '/api/fleet/projects')}>Copy as curl<//>`}>
    ${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    ${loading && html`<${Skeleton} tiles=${4} /><${Card} title="Projects" flush><${Skeleton} rows=${4} /><//>`}
    ${projects && relays && some && html`<${Figures} projects=${projects} relays=${relays} />`}
    ${projects && !loading && (some ? html`<${ProjectsTable} projects=${projects} reload=${reload} />` : html`<${FirstUplink} />`)}
    ${!loading && html`<div class=${some ? 'split two-one' : 'split'}>
      ${relays && relays.length > 0 ? html`<${RelaysTable} relays=${relays} reload=${reload} />` : some && html`<div></div>`}
      ${some && html`<div class="stack">${may('call') && html`<${Pipelines} projects=${projects.length} />`}<${Events} projects=${projects} /></div>`}
    </div>`}
  <//>`;
}
