// Switching a tool off and on for the tenant. The page shows the wish at once and takes it back when it is refused.
import { get, put } from '../../api.js';
import { signal } from '../../html.js';
import { nextStep } from '../../refusals.js';
import { toast } from '../../parts/toast.js';

/** Wishes on their way, by tool: whether it shall be off. */
export const wishes = signal(/** @type {Record<string, boolean>} */ ({}));

/** One change after the other, because the policy is replaced whole. */
let last = Promise.resolve();

/**
 * @param {string} name
 * @param {boolean} off
 * @param {() => Promise<void>} reload reads the registry again
 */
export function switchTool(name, off, reload) {
  wishes.value = { ...wishes.value, [name]: off };
  last = last.then(() => change(name, off, reload));
  return last;
}

/** @param {string} name @param {boolean} off @param {() => Promise<void>} reload */
async function change(name, off, reload) {
  try {
    // Read right before, so that what another admin switched meanwhile is kept.
    const { disabledTools } = await get('/api/mcp/policy');
    const others = disabledTools.filter((/** @type {string} */ each) => each !== name);
    await put('/api/mcp/policy', { disabledTools: off ? [...others, name] : others });
    await reload();
  } catch (problem) {
    toast({ state: 'bad', title: `${name} stays ${off ? 'on' : 'off'}`, text: told(problem) });
  } finally {
    const { [name]: _, ...rest } = wishes.value;
    wishes.value = rest;
  }
}

/** @param {unknown} problem */
function told(problem) {
  const { what, why, next } = nextStep(problem);
  return [...new Set([what, why, next])].filter(Boolean).join(' ');
}
