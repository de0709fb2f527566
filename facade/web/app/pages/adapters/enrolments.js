// One-time tokens that this browser was shown. They live in the memory of the page and nowhere else.

import { signal } from '../../html.js';
import { post } from '../../api.js';
import { pathOf } from './change.js';

/** @typedef {{token: string, command: string, expiresAt: string, issuedAt: string, used?: boolean}} Enrolment */

/** By the id of the target. */
export const enrolments = signal(/** @type {Record<string, Enrolment>} */ ({}));

/**
 * @param {string} id @param {{token: string, command: string, expiresAt: string}} enrolment
 */
export function keep(id, enrolment) {
  enrolments.value = { ...enrolments.value, [id]: { ...enrolment, issuedAt: new Date().toISOString() } };
}

/** The relay has enrolled, so the token is worth nothing any more. @param {string} id */
export function markUsed(id) {
  const enrolment = enrolments.value[id];
  if (enrolment && !enrolment.used) enrolments.value = { ...enrolments.value, [id]: { ...enrolment, token: '', used: true } };
}

/** @param {string} id */
export function drop(id) {
  const { [id]: _, ...others } = enrolments.value;
  enrolments.value = others;
}

/** Makes a new token in place of any unused one. @param {string} id */
export async function renew(id) {
  const { enrolment } = await post(`${pathOf(id)}/enrolment`, {});
  keep(id, enrolment);
}
