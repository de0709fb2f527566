// Changes of targets that need no form: the switch and the end.

import { del, patch } from '../../api.js';
import { toast } from '../../parts/toast.js';
import { kindOf } from './kinds.js';
import { forget } from './tests.js';

/** @typedef {import('./target.js').Target} Target */

/** @param {string} id @returns {string} */
export const pathOf = (id) => `/api/mcp/adapter/${encodeURIComponent(id)}`;

/**
 * Switches a target on or off, and says what that means.
 * @param {Target} target @param {boolean} on @returns {Promise<void>}
 */
export async function setEnabled(target, on) {
  try {
    await patch(pathOf(target.id), { disabled: !on });
    forget(target.id);
    const off = 'Calls that name it answer TARGET_NOT_FOUND. Its settings and credential stay.';
    toast({ state: 'ok', title: `${target.name} is switched ${on ? 'on' : 'off'}`, text: on ? 'Agents see its tools again.' : off });
  } catch (problem) {
    toast({ state: 'bad', title: `${target.name} was not changed`, text: problem instanceof Error ? problem.message : '' });
  }
}

/** @param {Target} target @returns {Promise<void>} */
export async function remove(target) {
  await del(pathOf(target.id));
  forget(target.id);
}

/** Names, the first of many. @param {string[]} names */
const some = (names) => (names.length > 6 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', '));

/**
 * What is lost with a target, named before it is.
 * @param {Target} target @param {Target[]} all @param {string[]} tools names of the tools of its type @returns {string[]}
 */
export function consequences(target, all, tools) {
  const others = all.filter(({ id, type, status }) => type === target.type && id !== target.id && status !== 'disabled');
  const relay = kindOf(target.type).relay;
  const lost =
    target.type === 'project'
      ? 'Its tools leave every list; where it was the default project, there is none any more.'
      : others.length
        ? `${others.length === 1 ? `${others[0]?.name} is` : `${others.length} others are`} left for the same tools.`
        : `${tools.length === 1 ? 'One tool loses its' : `${tools.length || 'Its'} tools lose their`} only target and leave every list${tools.length ? `: ${some(tools)}` : ''}.`;
  const secret = relay
    ? 'Its relay is disconnected and its key forgotten.'
    : 'Its credential and cached answers are deleted now.';
  return [lost, `${secret} Its rows of the audit record stay.`, 'Calls that name it will answer TARGET_NOT_FOUND. To pause it instead, switch it off.'];
}
