// The address of this page carries tool, target and arguments, so that a call can be shown to others. Opening one
// fills the form and calls nothing.
import { parseExact, writeExact } from '../../exact.js';

/** Longer arguments do not travel in an address. */
const LONGEST = 2000;

/**
 * @param {URLSearchParams} query
 * @returns {{tool: string, target: string, args: any}}
 */
export function fromQuery(query) {
  return { tool: query.get('tool') ?? '', target: query.get('target') ?? '', args: object(query.get('arguments')) };
}

/**
 * @param {string} tool
 * @param {string} target
 * @param {any} args
 * @returns {Record<string, string|null>}
 */
export function toQuery(tool, target, args) {
  const text = writeExact(args);
  return { tool, target: target || null, arguments: text === '{}' || text.length > LONGEST ? null : text };
}

/**
 * The page with a call filled in.
 * @param {string} tool
 * @param {any} args
 * @param {string} [target]
 */
export function hrefOf(tool, args, target = '') {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(toQuery(tool, target, args))) if (value) query.set(name, value);
  return `/test-call?${query}`;
}

/** @param {string|null} text */
function object(text) {
  if (!text) return {};
  try {
    const value = parseExact(text);
    return value && typeof value === 'object' && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}
