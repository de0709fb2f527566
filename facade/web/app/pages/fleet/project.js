// Projects as the contract tells them, and what of them is true now. Pure: nothing here asks or shows.

/**
 * @typedef {{id: string, name: string, config: Record<string, any>, state: string, why: string, isDefault: boolean,
 *   lastSeen: string, latencyMs?: number, lastEvent: string, pinnedKey: string, liveKey: string, mismatch: boolean,
 *   tools: number, toolsHash: string, withheldHash: string, server: string, revision: string, source: string}} Project
 */
/**
 * @typedef {{name: string, ownName: string, readOnly: boolean, shown: boolean, description: string, change: string,
 *   definition?: string, formerDefinition?: string}} Tool
 */
/** @typedef {{at: string, method: string, params: string}} Event */
/** @typedef {import('../adapters/target.js').Relay} Relay */
/** @typedef {'ok'|'warn'|'bad'|'idle'} Shade */

import { SLOW_MS } from '../adapters/target.js';
import { lookup } from '../../lookup.js';

/** A live project that told no event for so long is stale, in milliseconds. */
export const STALE_MS = 30 * 60 * 1000;

/** The path of a project. @param {string} name */
export const pathOf = (name) => `/api/fleet/projects/${encodeURIComponent(name)}`;

/** @type {Record<string, [word: string, shade: Shade]>} */
const STATES = lookup({
  silent: ['silent', 'warn'],
  server_down: ['server down', 'bad'],
  offline: ['offline', 'idle'],
  waiting: ['waits for its relay', 'idle'],
  revoked: ['revoked', 'bad'],
  locked: ['key in use twice', 'bad'],
  disabled: ['switched off', 'idle'],
});

/**
 * How a relay does, in a word and a shade.
 * @param {{state: string, mismatch: boolean, latencyMs?: number}} relay @returns {{word: string, shade: Shade}}
 */
export function standing({ state, mismatch, latencyMs = 0 }) {
  if (mismatch && state !== 'disabled') return { word: 'another key answers', shade: 'bad' };
  if (state === 'live') return latencyMs > SLOW_MS ? { word: 'slow', shade: 'warn' } : { word: 'live', shade: 'ok' };
  const [word, shade] = STATES[state] ?? [state, 'idle'];
  return { word, shade };
}

/** Whether its events have grown old. @param {Project} project @param {number} now */
export const isStale = ({ state, lastEvent }, now) => state === 'live' && !!lastEvent && now - Date.parse(lastEvent) > STALE_MS;

/** The middle of a list of figures. @param {number[]} values @returns {number | undefined} */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** What a notification says, for people. @param {Event} event @returns {{text: string, detail: string}} */
export function told({ method, params }) {
  const word = method.replace(/^notifications\//, '');
  try {
    const { data, message, level } = JSON.parse(params);
    const text = data ?? message;
    if (text !== undefined) return { text: typeof text === 'string' ? text : JSON.stringify(text), detail: level ?? word };
  } catch {
    // Cut parameters are no JSON any more, and are shown as they came.
  }
  return { text: word, detail: params === '{}' ? '' : params };
}

/**
 * Answers of projects that tell of a pipeline, or should; a project whose server has no tool for it has none to tell of.
 * @template {{ok: boolean, why?: string}} P @param {P[]} projects @returns {{told: P[], without: P[]}}
 */
export function withPipeline(projects) {
  const without = projects.filter(({ ok, why = '' }) => !ok && why.startsWith('it has no tool '));
  return { told: projects.filter((project) => !without.includes(project)), without };
}
