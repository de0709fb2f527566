// Targets as the contract tells them, and what of them is true now. Pure: nothing here asks or shows.

/** @typedef {{name: string, ok: boolean, ms: number, reason?: string, pointer?: string}} Stage */
/**
 * @typedef {{verdict: string, stages: Stage[], notProvable: string[], proven: string[], wider: string[],
 *   checkedAt?: string, version?: string, expiresAt?: string}} Validation
 */
/**
 * @typedef {{id: string, type: string, name: string, config: Record<string, any>, status: string,
 *   validation?: Validation, lastTest?: Tested, createdAt: string, updatedAt: string}} Target
 */
/**
 * @typedef {{targetId: string, name: string, kind: string, state: string, why: string, lastSeen: string,
 *   latencyMs?: number, pinnedKey: string, liveKey: string, mismatch: boolean, version?: string,
 *   connectedSince?: string, keptOutKey?: string, keptOutAt?: string, inFlight?: number, builtIn?: boolean}} Relay
 */
/** What a test found, and when. @typedef {{ok: boolean, stages: Stage[], at: string}} Tested */
/** @typedef {'ok'|'warn'|'bad'|'live'|'idle'} State */
/** @typedef {{word: string, state: State, group: string}} Health */

/** From here on an uplink is called slow, in milliseconds. */
export const SLOW_MS = 500;

/** Groups of health, in the order they are offered as a filter. */
export const GROUPS = ['healthy', 'needs attention', 'waiting or offline', 'switched off'];

/** @param {string} word @param {State} state @param {string} group @returns {Health} */
const said = (word, state, group) => ({ word, state, group });

/** From here on a credential is told as expiring, in days. */
const SOON_DAYS = 14;
const DAY_MS = 86400000;

/** Words for what an admin must look at; of `target.status`, and of a relay's state. */
const BAD = new Map([
  ['drifted', 'can do too much'],
  ['revoked', 'relay revoked'],
  ['locked', 'key in use twice'],
  ['server_down', 'server down'],
]);

/**
 * How a target does: by its status, its relay, and what the last test from this page found.
 * @param {Target} target @param {Relay} [relay] @param {Tested} [tested] @param {number} [now] @returns {Health}
 */
export function health(target, relay, tested, now = Date.now()) {
  const state = relay?.state ?? target.status;
  if (target.status === 'disabled' || state === 'disabled') return said('switched off', 'idle', 'switched off');
  if (relay?.mismatch) return said('key refused', 'bad', 'needs attention');
  const bad = BAD.get(target.status) ?? BAD.get(state);
  if (bad) return said(bad, 'bad', 'needs attention');
  if (target.status === 'waiting') return said('waiting for its relay', 'warn', 'waiting or offline');
  if (target.status === 'offline' || state === 'offline') return said('offline', 'idle', 'waiting or offline');
  if (state === 'silent') return said('silent', 'warn', 'needs attention');
  if (tested && !tested.ok && !isOutlived(relay, tested)) return said('test failed', 'bad', 'needs attention');
  if (target.validation?.verdict === 'failed') return said('can do too little', 'bad', 'needs attention');
  // A live relay has a reason only where its project's changed tools wait for an admin.
  if (state === 'live' && relay?.why) return said('tools kept back', 'warn', 'needs attention');
  if ((relay?.latencyMs ?? 0) > SLOW_MS) return said('slow', 'warn', 'needs attention');
  return expiring(target, now) ?? said('healthy', 'ok', 'healthy');
}

/** Where its credential expires soon, how soon. @param {Target} target @param {number} now @returns {Health | undefined} */
function expiring(target, now) {
  const at = target.validation?.expiresAt;
  const days = at ? Math.floor((Date.parse(at) - now) / DAY_MS) : SOON_DAYS;
  if (days >= SOON_DAYS) return undefined;
  if (days < 0) return said('expired', 'bad', 'needs attention');
  return said(days === 0 ? 'expires today' : `expires in ${days} d`, 'warn', 'needs attention');
}

/** The newer of what the gateway knows and what this page found. @param {Target} target @param {Tested} [tested] @returns {Tested | undefined} */
export function newest(target, tested) {
  const { lastTest } = target;
  return lastTest && (!tested || lastTest.at >= tested.at) ? lastTest : tested;
}

/**
 * Whether a test that failed is answered by what its relay shows now: it was connected, or was heard, after that.
 * @param {Relay | undefined} relay @param {Tested | undefined} tested
 */
export function isOutlived(relay, tested) {
  if (!relay || !tested || tested.ok || relay.state !== 'live' || relay.mismatch) return false;
  return [relay.connectedSince, relay.lastSeen].some((at) => !!at && Date.parse(at) > Date.parse(tested.at));
}

/** What a failed test that is outlived is told as, without its time. @param {Target} target @param {Relay} relay @param {Tested} tested */
export function sinceThen(target, relay, tested) {
  const before = !!relay.connectedSince && Date.parse(relay.connectedSince) > Date.parse(tested.at);
  const down = /does not run/.test(failedAt(tested.stages)?.reason ?? '');
  if (target.type === 'project' && (before || down)) return 'before its server was up';
  return before ? 'before its relay was connected' : 'it has answered since';
}

/** Where a target is, for people. @param {Target} target @returns {string} */
export function address(target) {
  const { host, port, baseUrl, hostname, url } = target.config;
  if (host) return `${host}:${port ?? 8006}`;
  return baseUrl ?? hostname ?? url ?? '';
}

/** Whether it is asked without TLS. @param {Target} target */
export const isPlain = ({ config }) => /^http:/i.test(config.baseUrl ?? '');

/** Milliseconds that all stages took. @param {Stage[]} stages @returns {number} */
export const spent = (stages) => stages.reduce((sum, stage) => sum + Number(stage.ms), 0);

/** The stage that did not pass. @param {Stage[]} stages @returns {Stage | undefined} */
export const failedAt = (stages) => stages.find((stage) => !stage.ok);

/** The beginning and the end of a key, enough to tell two apart. @param {string} key @returns {string} */
export const shortKey = (key) => (key.length > 16 ? `${key.slice(0, 8)}…${key.slice(-4)}` : key);
