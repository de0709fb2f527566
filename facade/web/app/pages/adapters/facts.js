// What a card and the page of a target tell of it, as rows of a list of keys and values.

import { html } from '../../html.js';
import { sentence } from '../../refusals.js';
import { Badge } from '../../parts/badge.js';
import { Ago, Clock, Duration } from '../../parts/time.js';
import { Link } from '../../router.js';
import { kindOf } from './kinds.js';
import { address, failedAt, isOutlived, isPlain, shortKey, sinceThen, spent } from './target.js';

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./target.js').Relay} Relay */
/** @typedef {import('./target.js').Tested} Tested */
/** @typedef {[label: string, value: any]} Row */

/** @param {Target} target @returns {Row} */
function rights(target) {
  const { proven = [], wider = [] } = target.validation ?? {};
  if (wider.length) return ['Too wide', html`<span class="bad break">${wider.join(', ')}</span>`];
  if (target.type === 'proxmox') return ['Rights', target.validation?.verdict === 'passed' ? 'PVEAuditor, exactly' : '–'];
  if (target.type.startsWith('agent-')) return ['Access', target.config.access === 'read_write' ? 'read and write' : 'read only'];
  return ['Scopes', proven.length ? html`<code>${proven.join(', ')}</code>` : '–'];
}

/** The few that were named first, and how many more. @param {string[]} list @returns {string} */
const few = (list) => (list.length > 2 ? `${list.slice(0, 2).join(', ')} and ${list.length - 2} more` : list.join(', '));

/** @param {Target} target @param {Tested} [tested] @returns {Row} */
function lastTest(target, tested) {
  const at = tested?.at ?? target.validation?.checkedAt;
  if (!at) return ['Tested', html`<span class="faint">never</span>`];
  const stages = tested?.stages ?? target.validation?.stages ?? [];
  return ['Tested', html`<${Ago} at=${at} />, <${Duration} ms=${spent(stages)} />`];
}

/** @param {Target} target @param {Relay} [relay] @param {Tested} [tested] @returns {Row[]} */
function failure(target, relay, tested) {
  if (relay && tested && isOutlived(relay, tested)) {
    return [['Old test', html`<span class="faint">the test at <${Clock} at=${tested.at} /> failed, ${sinceThen(target, relay, tested)}</span>`]];
  }
  const stage = failedAt(tested?.stages ?? []);
  return stage ? [['Failed', html`<span class="bad break">${sentence(stage.reason ?? stage.name)}</span>`]] : [];
}

/** @param {Target} target @param {Relay} [relay] @returns {Row[]} */
function ofRelay(target, relay) {
  const where = address(target);
  /** @type {Row[]} */
  const rows = where ? [[target.type === 'ssh' ? 'Host' : 'Address', html`<code>${where}</code>`]] : [];
  if (relay?.pinnedKey) rows.push(['Identity', html`<code title=${relay.pinnedKey}>${shortKey(relay.pinnedKey)}</code> pinned`]);
  if (relay?.mismatch) {
    rows.push(['Live', html`<code class="bad" title=${relay.liveKey}>${shortKey(relay.liveKey)}</code>`]);
    rows.push(['Next', html`<${Link} href="/fleet">compare and re-pin<//>`]);
  } else if (relay?.state === 'live') {
    const since = relay.connectedSince ? html`, since <${Clock} at=${relay.connectedSince} />` : '';
    rows.push(['Uplink', html`${relay.latencyMs === undefined ? 'connected' : html`<${Duration} ms=${relay.latencyMs} />`}${since}`]);
  } else if (relay?.lastSeen) {
    rows.push(['Last seen', html`<${Ago} at=${relay.lastSeen} />`]);
  }
  if (relay?.state === 'live' && relay.why) rows.push(['Next', html`<${Link} href=${`/fleet/${encodeURIComponent(target.name)}`}>see what changed<//>`]);
  if (target.type === 'project') rows.push(['Access', target.config.access === 'read_write' ? 'read and write' : 'read only']);
  return rows;
}

/** What calls to it are answered with, where they do not go through. @param {Target} target @param {Relay} [relay] @returns {Row[]} */
function calls(target, relay) {
  const offline = target.type === 'project' ? 'PROJECT_OFFLINE' : 'RELAY_OFFLINE';
  const word = {
    disabled: 'TARGET_NOT_FOUND',
    drifted: 'CREDENTIAL_DRIFTED',
    waiting: offline,
    offline,
    revoked: offline,
    locked: offline,
  }[relay?.mismatch ? 'offline' : target.status];
  return word ? [['Calls', html`answer <code>${word}</code>`]] : [];
}

/**
 * @param {Target} target @param {Relay} [relay] @param {Tested} [tested] @returns {Row[]}
 */
export function facts(target, relay, tested) {
  if (kindOf(target.type).relay) return [...ofRelay(target, relay), ...failure(target, relay, tested), ...calls(target, relay)];
  const { notProvable = [] } = target.validation ?? {};
  /** @type {Row[]} */
  const rows = [[target.type === 'proxmox' ? 'Host' : 'Address', html`<code>${address(target)}</code>${isPlain(target) && html` <${Badge} state="warn" icon="warn">plain HTTP<//>`}`], rights(target)];
  const { expiresAt } = target.validation ?? {};
  if (expiresAt) rows.push(['Expires', html`<${Ago} at=${expiresAt} />`]);
  if (notProvable.length) rows.push(['Not provable', html`<span title=${notProvable.join(', ')}>${few(notProvable)}</span>`]);
  return [...rows, lastTest(target, tested), ...failure(target, relay, tested), ...calls(target)];
}
