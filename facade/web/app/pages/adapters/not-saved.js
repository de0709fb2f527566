// Why nothing was saved: in a sentence, with the reason word of the API.

import { html } from '../../html.js';
import { Note } from '../../parts/note.js';
import { sentence } from '../../refusals.js';
import { stageTitle } from './kinds.js';
import { titleOf, validationOf } from './refusal.js';
import { failedAt } from './target.js';

/** What the gateway says of it, and where the form says more. @param {import('../../api.js').Problem} problem @param {number} marked @returns {string} */
export function told(problem, marked) {
  const { wider = [], stages = [] } = validationOf(problem) ?? {};
  if (wider.length) return 'Toolgate keeps only credentials that cannot change anything.';
  const failed = failedAt(stages);
  if (failed) return sentence(`The check “${stageTitle(failed.name)}” failed${marked ? '; the marked field says why' : `: ${failed.reason ?? problem.detail}`}`);
  if (marked) return marked === 1 ? 'The marked field says what is wrong.' : 'Each marked field says what is wrong.';
  return sentence(problem.detail);
}

/** @param {{problem: import('../../api.js').Problem, marked: number}} props marked: fields that say what is wrong */
export function NotSaved({ problem, marked }) {
  const wait = problem.retryAfter ? ` · try again in ${problem.retryAfter} s` : '';
  return html`<${Note} state="bad" title=${`Not saved: ${titleOf(problem)}.`}>
    <p>${told(problem, marked)}</p>
    <p class="small faint"><code>${problem.status || ''} ${problem.reason}</code> · nothing was stored${wait}</p>
  <//>`;
}

/** What is required was left empty, and nothing was sent. */
export const Incomplete = () => html`<${Note} state="bad" title="Not sent: the form is not complete."><p>Each marked field is required.</p><//>`;
