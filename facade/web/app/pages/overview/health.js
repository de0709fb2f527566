// How a target does, in words and as a state. Pure.
import { lookup } from '../../lookup.js';

/**
 * @typedef {{id: string, type: string, name: string, config?: any, status: string,
 *   validation?: {verdict: string, stages: {name: string, ok: boolean, ms: number, reason?: string}[], checkedAt?: string}}} Target
 * @typedef {{targetId: string, state: string, why?: string, lastSeen?: string, latencyMs?: number, mismatch?: boolean}} Relay
 * @typedef {{state: 'ok'|'warn'|'bad'|'off', words: string, rank: number}} Health
 */

/** @type {Record<string, Health>} */
const BY_STATUS = lookup({
  locked: { state: 'bad', words: 'Key in use twice', rank: 0 },
  revoked: { state: 'bad', words: 'Relay revoked', rank: 1 },
  drifted: { state: 'bad', words: 'Credential can do too much', rank: 2 },
  offline: { state: 'off', words: 'Offline', rank: 4 },
  waiting: { state: 'warn', words: 'Waits for its relay', rank: 5 },
  disabled: { state: 'off', words: 'Switched off', rank: 8 },
});

/** @returns {Health} */
export function healthOf(/** @type {Target} */ target, /** @type {Relay|undefined} */ relay) {
  if (relay?.mismatch) return { state: 'bad', words: 'Key refused', rank: 0 };
  const known = BY_STATUS[target.status];
  if (known) return known;
  if (target.validation?.verdict === 'failed') return { state: 'bad', words: failedAt(target), rank: 3 };
  if (target.status === 'ready') return { state: 'ok', words: 'Healthy', rank: 9 };
  return { state: 'warn', words: target.status, rank: 6 };
}

function failedAt(/** @type {Target} */ target) {
  const stage = target.validation?.stages.find((each) => !each.ok);
  return stage ? `Failed at ${stage.name}` : 'Last test failed';
}

/** The milliseconds that the last test took; null where none did. */
export function took(/** @type {Target} */ target, /** @type {Relay|undefined} */ relay) {
  if (relay?.latencyMs !== undefined) return relay.latencyMs;
  const stages = target.validation?.stages ?? [];
  return target.validation?.checkedAt && stages.length ? stages.reduce((all, stage) => all + stage.ms, 0) : null;
}

/** Worst first, then by name. */
export function worstFirst(/** @type {Target[]} */ targets, /** @type {Map<string, Relay>} */ relays) {
  return targets
    .map((target) => ({ target, relay: relays.get(target.id), health: healthOf(target, relays.get(target.id)) }))
    .sort((a, b) => a.health.rank - b.health.rank || a.target.name.localeCompare(b.target.name));
}

/** @type {Record<string, string>} */
const KINDS = lookup({
  ssh: 'SSH by relay', proxmox: 'Proxmox VE', github: 'GitHub', gitea: 'Gitea', project: 'Project',
  'agent-memory': 'Memory', 'agent-operator': 'Operator', 'agent-chat': 'Chat',
});

/** A target's type in words. */
export const kindOf = (/** @type {string} */ type) => KINDS[type] ?? type;

/** Where it is, as far as its settings say. */
export function addressOf(/** @type {Target} */ target) {
  const c = target.config ?? {};
  const text = c.host ? `${c.host}${c.port ? `:${c.port}` : ''}` : c.baseUrl ?? c.hostname ?? c.url ?? '';
  return String(text).replace(/^https?:\/\//, '') || (target.type === 'github' ? 'api.github.com' : '');
}
