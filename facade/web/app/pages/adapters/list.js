// All targets as cards, with what they are filtered by.

import { html, useState } from '../../html.js';
import { curl } from '../../api.js';
import { may } from '../../session.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { CopyButton } from '../../parts/code.js';
import { Empty } from '../../parts/empty.js';
import { Refusal } from '../../parts/note.js';
import { Page } from '../../parts/page.js';
import { TargetCard } from './card.js';
import { setEnabled } from './change.js';
import { DeleteDialog } from './delete-dialog.js';
import { Filter, shown } from './filter.js';
import { heard, testAll, testing } from './tests.js';
import { useTargets } from './use-targets.js';

/** @typedef {import('./target.js').Target} Target */

const LEAD = 'The systems agents may read. A credential is checked for everything it could do, not only for whether it works.';

const addButton = () => html`<${Button} kind="primary" icon="plus" href="/adapters/new">Add adapter<//>`;

/** @param {{targets?: Target[]}} props */
function Actions({ targets }) {
  const some = targets?.filter(({ status }) => ['ready', 'drifted', 'offline'].includes(status)) ?? [];
  return html`<${CopyButton} small=${false} text=${curl('GET', '/api/mcp/adapter')}>Copy as curl<//>
    ${may('test') && (!targets || some.length > 0) &&
    html`<${Button} icon="bolt" busy=${testing.value.size > 0} disabled=${!some.length} onClick=${() => testAll(some)}>Test all<//>`}
    ${may('change') && addButton()}`;
}

/** The room that cards will take. */
const CardSkeletons = () => html`<div class="grid-cards" role="group" aria-busy="true" aria-label="Loading">
  ${[1, 2, 3, 4, 5, 6].map((at) => html`<div class="adapter-card sk-card" key=${at}><span class="sk h w2"></span><span class="sk w3"></span><span class="sk w2"></span><span class="sk w3"></span></div>`)}
</div>`;

function NoTargets() {
  const text =
    'A target is one Proxmox cluster, GitHub account, Gitea server, host, agent back end or project. Agents see its tools as soon as it passes its checks.';
  return html`<${Card} flush>
    <${Empty} icon="adapters" title="No targets yet" text=${text}>
      ${may('change') ? html`${addButton()}<${Button} href="/">Three-step guide<//>` : html`<p class="faint">An admin adds the first one.</p>`}
    <//>
  <//>`;
}

export function List() {
  const { targets, relays, error, reload } = useTargets();
  const [leaving, setLeaving] = useState(/** @type {Target | undefined} */ (undefined));
  const matches = targets && shown(targets, relays);
  const onSwitch = async (/** @type {Target} */ target, /** @type {boolean} */ on) => {
    await setEnabled(target, on);
    reload();
  };

  return html`<${Page} title="Adapters" lead=${LEAD} actions=${html`<${Actions} targets=${targets} />`}>
    ${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    ${!targets && !error && html`<${CardSkeletons} />`}
    ${targets?.length === 0 && html`<${NoTargets} />`}
    ${targets && targets.length > 0 && html`<${Filter} targets=${targets} />`}
    ${matches && matches.length > 0 &&
    html`<div class="grid-cards">
      ${matches.map(
        (target) =>
          html`<${TargetCard} key=${target.id} target=${target} relay=${relays.get(target.id)} onSwitch=${onSwitch} onDelete=${setLeaving} />`,
      )}
    </div>`}
    ${targets && targets.length > 0 && matches?.length === 0 &&
    html`<${Card} flush><${Empty} icon="search" title="No target matches" text="None has this name, health and kind together.">
      <${Button} href="/adapters">Show all ${targets.length}<//>
    <//><//>`}
    <p class="sr" role="status">${matches ? `${matches.length} of ${targets?.length} targets shown` : ''}</p>
    <p class="sr" role="status">${heard.value}</p>
    ${leaving &&
    html`<${DeleteDialog} target=${leaving} all=${targets ?? []} onClose=${() => setLeaving(undefined)}
      onGone=${() => { setLeaving(undefined); reload(); }} />`}
  <//>`;
}
