// Why nothing was saved: in a sentence, with the reason word of the API.

import { html } from '../../html.js';
import { Note } from '../../parts/note.js';
import { sentence } from '../../refusals.js';
import { stageTitle } from './kinds.js';
import { titleOf, validationOf } from './refusal.js';
import { failedAt } from './target.js';

/** What the gateway says of it, where no field says so already. @param {import('../../api.js').Problem} problem @returns {string} */
function told(problem) {
  const { wider = [] } = validationOf(problem) ?? {};
  if (wider.length) return 'Toolgate keeps only credentials that cannot change anything.';
  if (problem.violations.length) return 'Each field says what is wrong.';
  const failed = failedAt(validationOf(problem)?.stages ?? []);
  return failed ? `The check “${stageTitle(failed.name)}” failed; it says why, and what to do.` : sentence(problem.detail);
}

/** @param {{problem: import('../../api.js').Problem}} props */
export function NotSaved({ problem }) {
  const wait = problem.retryAfter ? ` · try again in ${problem.retryAfter} s` : '';
  return html`<${Note} state="bad" title=${`Not saved: ${titleOf(problem)}.`}>
    <p>${told(problem)}</p>
    <p class="small faint"><code>${problem.status || ''} ${problem.reason}</code> · nothing was stored${wait}</p>
  <//>`;
}
