// One target as a card: how it does, what was proven, and what may be done to it.

import { html } from '../../html.js';
import { may } from '../../session.js';
import { Link } from '../../router.js';
import { Badge, Dot } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import { KeyValue } from '../../parts/kv.js';
import { Switch } from '../../parts/field.js';
import { facts } from './facts.js';
import { kindOf } from './kinds.js';
import { health, newest } from './target.js';
import { test, tested, testing } from './tests.js';

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./target.js').Relay} Relay */

/** @type {Record<string, string>} */
const ICONS = { warn: 'clock', bad: 'refused', idle: 'pause', offline: 'offline' };

/** How a target does, in a word and a colour. @param {{health: import('./target.js').Health}} props */
export function HealthBadge({ health: { word, state } }) {
  const shape = word === 'offline' ? 'offline' : state;
  return state === 'ok'
    ? html`<${Badge} state="ok"><${Dot} state="ok" />${word}<//>`
    : html`<${Badge} state=${shape} icon=${ICONS[shape]}>${word}<//>`;
}

/**
 * @param {{target: Target, relay?: Relay, onDelete: (target: Target) => void,
 *   onSwitch: (target: Target, on: boolean) => void}} props
 */
export function TargetCard({ target, relay, onDelete, onSwitch }) {
  const kind = kindOf(target.type);
  const last = newest(target, tested.value[target.id]);
  const busy = testing.value.has(target.id);
  const page = `/adapters/${target.id}`;
  const waits = kind.relay && ['waiting', 'revoked', 'locked'].includes(target.status);
  return html`<article class="adapter-card" aria-labelledby=${`t-${target.id}`}>
    <header>
      <span class="glyph"><${Icon} name=${kind.icon} /></span>
      <h2 id=${`t-${target.id}`} class="clip"><${Link} class="rowlink" href=${page}>${target.name}<//></h2>
      <p>${kind.title}${target.validation?.version ? ` ${target.validation.version}` : ''}${target.config.builtIn ? ', this gateway’s own' : ''}${relay?.version ? `, relay ${relay.version}` : ''}</p>
      <${HealthBadge} health=${health(target, relay, last)} />
    </header>
    <${KeyValue} rows=${facts(target, relay, last)} />
    ${(may('test') || may('change')) &&
    html`<footer>
      ${waits && may('change')
        ? html`<${Link} class="btn quiet sm" href=${page}><${Icon} name="host" small />Start line<//>`
        : html`<${Button} kind="quiet" small icon="bolt" busy=${busy} disabled=${target.status === 'disabled'}
            aria-label=${`Test ${target.name}`} onClick=${() => test(target.id, target.name)}>Test<//>`}
      ${may('change') &&
      html`<${Link} class="btn quiet sm" href=${page} aria-label=${`Edit ${target.name}`}>Edit<//>
        <${Button} kind="quiet" small aria-label=${`Delete ${target.name}`} onClick=${() => onDelete(target)}>Delete<//>
        <span class="push small"><${Switch} label=${`${target.name} enabled`} hideLabel checked=${target.status !== 'disabled'}
          onChange=${(/** @type {boolean} */ on) => onSwitch(target, on)} /></span>`}
    </footer>`}
  </article>`;
}
