// The checks of a credential beside its form: what will run, what runs, what was found, with the time of each.

import { html } from '../../html.js';
import { sentence } from '../../refusals.js';
import { useNow } from '../../use.js';
import { Card } from '../../parts/card.js';
import { Stages } from '../../parts/stages.js';
import { kindOf, stageTitle } from './kinds.js';
import { failedAt, spent } from './target.js';

/** @typedef {import('./target.js').Stage} Stage */

/** What checks may take, in milliseconds. */
const LIMIT = 5000;

/** Milliseconds, as the head of the card tells them. @param {number} ms @returns {string} */
const told = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** @param {{since: number}} props */
function Elapsed({ since }) {
  const now = useNow(100);
  return html`<code class="small faint">${told(Math.max(0, now - since))} of 5 s</code>`;
}

/**
 * @param {{type: string, stages?: Stage[], runningSince?: number, title?: string}} props
 */
export function Checks({ type, stages = [], runningSince, title = 'Checks' }) {
  const expected = kindOf(type).stages;
  const running = runningSince !== undefined;
  const done = stages.map((stage) => ({ ...stage, name: stageTitle(stage.name), reason: stage.reason && sentence(stage.reason) }));
  // What stands before the last one that ran did not apply: TLS, where it is asked without.
  const ran = Math.max(-1, ...stages.map(({ name }) => expected.indexOf(name)));
  const left = running || !stages.length || failedAt(stages) ? expected.slice(ran + 1) : [];
  const rest = left.map((name) => ({ name: stageTitle(name) }));
  const time = running
    ? html`<${Elapsed} since=${runningSince} />`
    : stages.length > 0 && html`<code class="small faint">${told(spent(stages))} of ${LIMIT / 1000} s</code>`;
  return html`<${Card} title=${title} actions=${time}>
    <${Stages} stages=${[...done, ...rest]} running=${running} />
  <//>`;
}
