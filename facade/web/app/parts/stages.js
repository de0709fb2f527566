// Checks one after the other, each with its time and, where it failed, its reason.
import { html } from '../html.js';
import { Icon } from './icon.js';
import { Duration } from './time.js';

/** @typedef {{name: string, ok?: boolean, ms?: number, reason?: any, skipped?: boolean}} Stage ok undefined: not run yet */

/** @param {{stages: Stage[], running?: string | boolean}} props running: the stage that runs (its name), or true for the first without an outcome */
export function Stages({ stages, running }) {
  const now = running === true ? stages.find((each) => each.ok === undefined && !each.skipped)?.name : running;
  return html`<ol class="stages" aria-live="polite">${stages.map((stage) => html`<${StageRow} key=${stage.name} stage=${stage} now=${stage.name === now} />`)}</ol>`;
}

/** @param {{stage: Stage, now: boolean}} props */
function StageRow({ stage, now }) {
  const state = now ? 'run' : stage.skipped || stage.ok === undefined ? 'skip-stage' : stage.ok ? 'done' : 'fail';
  /** @type {Record<string, [string | null, string]>} */
  const marks = { run: [null, 'running'], 'skip-stage': ['minus', 'not run'], done: ['check', 'passed'], fail: ['cross', 'failed'] };
  const [icon, word] = marks[state] ?? [null, ''];
  return html`
    <li class=${state}>
      <span class="mk">${icon && html`<${Icon} name=${icon} />`}</span>
      <b>${stage.name}<span class="sr">, ${word}</span></b>
      <span class="ms">${stage.ms === undefined ? (now ? '…' : word) : html`<${Duration} ms=${stage.ms} />`}</span>
      ${stage.reason && html`<small>${stage.reason}</small>`}
    </li>`;
}
