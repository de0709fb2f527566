// Changes of projects and their relays that need no form.

import { patch, post, put } from '../../api.js';
import { toast } from '../../parts/toast.js';
import { pathOf } from './project.js';

/** @typedef {import('./project.js').Project} Project */

/** @param {string} failed what is told where it was refused @param {() => Promise<unknown>} change */
async function tried(failed, change) {
  try {
    await change();
  } catch (problem) {
    toast({ state: 'bad', title: failed, text: problem instanceof Error ? problem.message : '' });
  }
}

/** Where calls go that name no project. @param {Project} project @param {boolean} on */
export const setDefault = (project, on) =>
  tried('The default was not changed', () => put('/api/fleet/default', { name: on ? project.name : '' }));

/** @param {Project} project @param {boolean} on */
export const setEnabled = (project, on) => tried(`${project.name} was not changed`, () => patch(pathOf(project.name), { disabled: !on }));

/** Puts a list of tools that was kept back in force. @param {Project} project */
export const accept = (project) => post(`${pathOf(project.name)}/accept`, { hash: project.withheldHash });

/** Pins the key that a relay shows now. @param {string} targetId @param {string} key */
export const pin = (targetId, key) => post(`/api/fleet/relays/${encodeURIComponent(targetId)}/pin`, { key });
