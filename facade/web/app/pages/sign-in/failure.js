// Why signing in did not work, and what does.
import { html } from '../../html.js';
import { Note } from '../../parts/note.js';
import { nextStep } from '../../refusals.js';
import { lookup } from '../../lookup.js';

/** @type {Record<string, [string, any]>} words of the address after a failed way through the provider */
const WORDS = lookup({
  provider_away: ['The provider does not answer', 'Try again in a moment, or use a sign-in link.'],
  no_role: ['You have no role here', 'The provider knows you, but no rule gives you a role in this tenant. Ask an admin for one.'],
  state_lost: ['That took too long', 'The sign-in was begun too long ago or in another window. Begin it again.'],
  denied: ['The provider said no', 'Nobody was signed in. Try again, or use another account there.'],
  refused: ['The answer of the provider was refused', 'It does not prove who you are. Try again; if it stays, an admin finds the reason in the log.'],
});

/** @type {Record<string, any>} what was given in place of a code */
const NOT_CODES = lookup({
  empty_code: 'Paste the link or its code.',
  api_token: html`This is an API token, which does not sign in. Make a link with it: <code>toolgate sign-in</code>.`,
  no_code: html`This is no code of a sign-in link; those begin with <code>tgl_</code>.`,
});

/** @param {string} word of `codeIn` */
export const notCode = (word) => NOT_CODES[word];

/** @param {{failure: any}} props a word of the address, a Problem, or nothing */
export function Failure({ failure }) {
  if (!failure) return null;
  const [title, text] = typeof failure === 'string' ? WORDS[failure] ?? ['Not signed in', NOT_CODES[failure] ?? 'Try again.'] : ofProblem(failure);
  return html`<h1>${title}</h1><${Note} state="warn" icon="clock">${text}<//>`;
}

/** @param {any} problem @returns {[string, any]} */
function ofProblem(problem) {
  if (problem.status === 401) return ['This link no longer works', html`A sign-in link works once, for 15 minutes. Ask an admin for a new one, or print one with <code>toolgate sign-in</code> and a token of your own.`];
  const step = nextStep(problem);
  return [step.what.replace(/\.$/, ''), [step.why, step.next].filter(Boolean).join(' ')];
}
