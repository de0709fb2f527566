// One target: how it does, what its checks found, its settings, and its relay where it has one.

import { html, useRef, useState } from '../../html.js';
import { curl } from '../../api.js';
import { go, Link } from '../../router.js';
import { useGet } from '../../use.js';
import { may } from '../../session.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code, CopyButton } from '../../parts/code.js';
import { Empty } from '../../parts/empty.js';
import { Icon } from '../../parts/icon.js';
import { KeyValue } from '../../parts/kv.js';
import { Note, Refusal } from '../../parts/note.js';
import { Page } from '../../parts/page.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Switch } from '../../parts/field.js';
import { Added, added } from './added.js';
import { HealthBadge } from './card.js';
import { pathOf, setEnabled } from './change.js';
import { Checks } from './checks.js';
import { DeleteDialog } from './delete-dialog.js';
import { Edit } from './edit.js';
import { Enrol } from './enrol.js';
import { enrolments } from './enrolments.js';
import { facts } from './facts.js';
import { Help } from './help.js';
import { kindOf } from './kinds.js';
import { Proof } from './proof.js';
import { RelayCard } from './relay-card.js';
import { laterLine } from './start-line.js';
import { failedAt, health, isOutlived, newest } from './target.js';
import { test, tested, testing } from './tests.js';
import { useTargets } from './use-targets.js';

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./target.js').Relay} Relay */
/** @typedef {import('./target.js').Stage} Stage */
/** @typedef {import('./remedy.js').Change} Change */

/** States in which only a new enrolment brings the relay back. */
const ENROLS = ['waiting', 'revoked', 'locked'];

/** @param {{target: Target, onSwitch: (on: boolean) => void, onDelete: () => void}} props */
function Actions({ target, onSwitch, onDelete }) {
  return html`<${CopyButton} small=${false} text=${curl('POST', `${pathOf(target.id)}/test`, {})}>Copy as curl<//>
    ${may('change') &&
    html`<${Switch} label="Enabled" checked=${target.status !== 'disabled'} onChange=${onSwitch} />
      <${Button} kind="danger" onClick=${onDelete}>Delete<//>`}
    ${may('test') && !ENROLS.includes(target.status) &&
    html`<${Button} kind="primary" icon="bolt" busy=${testing.value.has(target.id)} disabled=${target.status === 'disabled'}
      onClick=${() => test(target.id)}>Test connection<//>`}`;
}

/** @param {{target: Target, relay?: Relay, all: Target[], types: ReturnType<typeof useGet>, reload: () => void}} props */
function Known({ target, relay, all, types, reload }) {
  const [leaving, setLeaving] = useState(false);
  const [saving, setSaving] = useState(/** @type {{stages?: Stage[], since?: number}} */ ({}));
  // The form holds its values itself; what mends it is put there.
  const mends = useRef((/** @type {Change} */ _change) => {});
  const kind = kindOf(target.type);
  const last = newest(target, tested.value[target.id]);
  const type = types.data?.types.find((/** @type {{type: string}} */ one) => one.type === target.type);
  const stages = saving.stages ?? last?.stages ?? target.validation?.stages;
  const since = saving.since ?? (testing.value.has(target.id) ? Date.now() : undefined);
  const enrolment = enrolments.value[target.id];
  const enrols = kind.relay && (ENROLS.includes(target.status) || (!!enrolment && (!enrolment.used || target.status === 'ready')));
  const failed = !!failedAt(stages ?? []);
  const crumb = html`<${Link} href="/adapters">Adapters<//><${Icon} name="right" small /><span class="break">${target.name}</span>`;
  const switchTo = async (/** @type {boolean} */ on) => {
    await setEnabled(target, on);
    reload();
  };

  return html`<${Page} title=${target.name} crumb=${crumb} lead=${html`<span class="row">${kind.title} ${target.validation?.version ?? ''} <${HealthBadge} health=${health(target, relay, last)} /></span>`}
    actions=${html`<${Actions} target=${target} onSwitch=${switchTo} onDelete=${() => setLeaving(true)} />`}>
    ${kind.relay && target.status === 'offline' && !target.config.builtIn &&
    html`<${Note} state="idle" icon="offline" title="Its relay is not connected."><p>Start it again where it ran; it needs no token.</p><${Code} text=${laterLine(target, location.origin)} head="Start command" label="Start command" wrap /><//>`}
    ${added.value === target.id && html`<${Added} target=${target} />`}
    ${enrols && html`<${Enrol} target=${target} relay=${relay} />`}
    <div class="split form">
      <div class="stack">
        <${Card} title="Now"><${KeyValue} rows=${facts(target, relay, last)} /><//>
        ${may('change') && types.error && html`<${Refusal} problem=${types.error} onRetry=${types.reload} />`}
        ${may('change') && type &&
        html`<${Edit} key=${target.id} target=${target} type=${type} mends=${mends} onSaved=${reload}
          onStages=${(/** @type {Stage[] | undefined} */ found, /** @type {number | undefined} */ from) => setSaving({ stages: found, since: from })} />`}
      </div>
      <aside class="stack" aria-label="Checks">
        ${(!kind.relay || !!last) &&
        html`<${Checks} type=${target.type} stages=${since === undefined ? stages : []} runningSince=${since} title=${isOutlived(relay, last) ? 'An old test' : last || saving.stages ? 'Last test' : 'Checks'} />`}
        ${failed && !kind.relay && may('change') &&
        html`<${Help} type=${target.type} credential=${{}} schema=${type?.credentialSchema} stages=${stages} refused=${!!saving.stages} onFix=${(/** @type {Change} */ change) => mends.current(change)} />`}
        <${Proof} validation=${target.validation} />
        ${relay && html`<${RelayCard} target=${target} relay=${relay} onChanged=${reload} />`}
      </aside>
    </div>
    ${leaving &&
    html`<${DeleteDialog} target=${target} all=${all} onClose=${() => setLeaving(false)} onGone=${() => go('/adapters', { replace: true })} />`}
  <//>`;
}

/** @param {{id: string}} props */
export function Detail({ id }) {
  const { targets, relays, error, reload } = useTargets((all) => ENROLS.includes(all.find((one) => one.id === id)?.status ?? ''));
  const types = useGet('/api/mcp/adapter-types');
  const target = targets?.find((one) => one.id === id);
  const whole = types.data || types.error;
  if (target && whole) return html`<${Known} key=${id} target=${target} relay=${relays.get(id)} all=${targets} types=${types} reload=${reload} />`;
  return html`<${Page} title="Adapter">
    ${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    ${(!targets || (target && !whole)) && !error && html`<${Skeleton} lines=${8} />`}
    ${targets && !target && html`<${Card} flush><${Empty} icon="search" title="No such target" text="It was deleted, or the address is not whole."><${Button} href="/adapters">All adapters<//><//><//>`}
  <//>`;
}
