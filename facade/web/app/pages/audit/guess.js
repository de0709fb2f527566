// What a text in the search field most likely names. Pure.

import { KINDS, RESULTS } from './events.js';
import { lookup } from '../../lookup.js';

/**
 * @typedef {{key: 'tool'|'principal'|'targetId'|'result'|'event'|'correlationId', value: string, words: string}} Guess
 */

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;
/** @type {Record<string, Guess['key']>} */
const PREFIXES = lookup({
  tool: 'tool', principal: 'principal', by: 'principal', target: 'targetId', on: 'targetId', result: 'result',
  event: 'event', id: 'correlationId', correlation: 'correlationId',
});

/**
 * The filter that `text` asks for. A prefix (`tool:`, `by:`, `on:`, `result:`, `event:`, `id:`) settles it.
 * @param {string} text
 * @param {{id: string, name: string}[]} targets
 * @param {string[]} tools
 * @returns {Guess|null}
 */
export function guess(text, targets, tools) {
  const typed = text.trim();
  if (!typed) return null;
  const [, prefix = '', rest = ''] = /^([a-z]+):\s*(.+)$/.exec(typed) ?? [];
  const key = PREFIXES[prefix];
  if (key) return named(key, rest, targets);
  if (RESULTS.includes(typed)) return named('result', typed, targets);
  if (KINDS.includes(typed)) return named('event', typed, targets);
  if (tools.includes(typed)) return named('tool', typed, targets);
  if (targets.some((t) => t.name === typed || t.id === typed)) return named('targetId', typed, targets);
  if (ULID.test(typed.toUpperCase())) return named('correlationId', typed.toUpperCase(), targets);
  if (/^[a-z]+\.[a-z_]+$/.test(typed)) return named('tool', typed, targets);
  return named('principal', typed, targets);
}

/** @returns {Guess} */
function named(/** @type {Guess['key']} */ key, /** @type {string} */ value, /** @type {{id: string, name: string}[]} */ targets) {
  const target = key === 'targetId' ? targets.find((t) => t.name === value || t.id === value) : undefined;
  const words = { tool: 'tool', principal: 'principal', targetId: 'target', result: 'result', event: 'event', correlationId: 'correlation id' };
  return { key, value: target?.id ?? value, words: `${words[key]} ${target?.name ?? value}` };
}
