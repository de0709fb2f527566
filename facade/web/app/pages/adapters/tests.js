// Tests of connections that were asked for in this browser, until the page is left.
// The gateway stores what a test found of the credential; that a target did not answer it does not, so it is kept here.

import { signal } from '../../html.js';
import { post } from '../../api.js';
import { failedAt } from './target.js';

/** @typedef {import('./target.js').Tested} Tested */

/** Tests at once where all are asked for. */
const AT_ONCE = 4;

/** What the last tests found, by target id. */
export const tested = signal(/** @type {Record<string, Tested>} */ ({}));
/** Ids of the targets that are being tested. */
export const testing = signal(/** @type {ReadonlySet<string>} */ (new Set()));

/** The last test in a sentence, for those who hear the page. */
export const heard = signal('');

/** @param {string} id @param {boolean} on */
function mark(id, on) {
  const next = new Set(testing.value);
  on ? next.add(id) : next.delete(id);
  testing.value = next;
}

/** Forgets what was found, after a change. @param {string} id */
export function forget(id) {
  const { [id]: _, ...others } = tested.value;
  tested.value = others;
}

/**
 * Tests one target.
 * @param {string} id @param {string} [name] what it is called, where that is told @returns {Promise<Tested>}
 */
export async function test(id, name) {
  mark(id, true);
  /** @type {Tested} */
  let found;
  try {
    const { ok, stages } = await post(`/api/mcp/adapter/${encodeURIComponent(id)}/test`, {});
    found = { ok, stages, at: new Date().toISOString() };
  } catch (problem) {
    const reason = problem instanceof Error ? problem.message : String(problem);
    found = { ok: false, stages: [{ name: 'test', ok: false, ms: 0, reason }], at: new Date().toISOString() };
  }
  mark(id, false);
  tested.value = { ...tested.value, [id]: found };
  if (name) heard.value = found.ok ? `${name}: every check passed` : `${name}: the test failed, ${failedAt(found.stages)?.reason ?? 'without a reason'}`;
  return found;
}

/** Tests many, a few at a time. @param {{id: string, name: string}[]} targets */
export async function testAll(targets) {
  const left = [...targets];
  const next = async () => {
    for (let one = left.shift(); one; one = left.shift()) await test(one.id, one.name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}
