// The rules of a catalog in the order in which they are asked, with the one that decided.
import { html } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Icon } from '../../parts/icon.js';
import { Said } from '../../parts/said.js';

/** Each step with the rules that it can end at. */
const STEPS = [
  { rules: ['role'], passed: 'The role may call tools', stopped: 'The role may not call tools' },
  { rules: ['not_registered', 'write_attempt'], passed: 'In the registry', stopped: 'Not in the registry' },
  { rules: ['no_back_end'], passed: 'A target stands behind it', stopped: 'No enabled target stands behind it' },
  { rules: ['policy'], passed: 'On for this tenant', stopped: 'Off for this tenant' },
  { rules: ['gateway_tool', 'profile_pinned', 'profile_asked', 'profile_unknown_closed'], passed: 'In the profile', stopped: 'Not in the profile' },
  { rules: ['read_only'], passed: 'Its effect is allowed there', stopped: 'It writes, and its back ends may only be read' },
  { rules: ['disclosure_search'], passed: 'In the list', stopped: 'Not in the list: it is found by search' },
];

const STATES = /** @type {Record<string, 'ok'|'warn'|'bad'|'idle'>} */ ({ listed: 'ok', callable: 'ok', hidden: 'warn', denied: 'bad', unknown: 'idle' });

/** @param {{answer: {verdict: string, rule: string, sentence: string, tool?: string, profile?: string}}} props */
export function Ladder({ answer }) {
  const { verdict, rule, profile } = answer;
  const end = STEPS.findIndex((step) => step.rules.includes(rule));
  // A profile that has the tool is the rule that lists it: everything was passed.
  const listed = verdict === 'listed';
  return html`<p class="row"><${Badge} state=${STATES[verdict] ?? 'idle'} icon=${listed ? 'check' : undefined}>${verdict}<//><code class="small faint">${rule}</code></p>
    <p role="status"><${Said} text=${`${answer.sentence}.`} /></p>
    <ul class="why" aria-label="Rules in the order they are asked">${STEPS.map((step, at) => {
      const state = listed || end < 0 || at < end ? 'ok' : at > end ? 'open' : 'stop';
      return html`<${Step} key=${step.passed} step=${step} state=${state} mild=${verdict === 'callable'} detail=${step.rules.includes('profile_pinned') ? profileTold(rule, profile) : ''} />`;
    })}</ul>`;
}

/** @param {{step: typeof STEPS[number], state: 'ok'|'stop'|'open', mild: boolean, detail: string|undefined}} props */
function Step({ step, state, mild, detail }) {
  if (state === 'open') return html`<li><${Icon} name="minus" small /><div class="faint">${step.passed}<small>not asked any more</small></div></li>`;
  const [icon, tone] = state === 'ok' ? ['check', 'ok'] : [mild ? 'info' : 'cross', mild ? 'warn' : 'bad'];
  return html`<li><span class=${tone}><${Icon} name=${icon} small /></span><div>
    ${state === 'stop' ? html`<b class="strong">${step.stopped}</b>` : step.passed}${detail && html`<small>${detail}</small>`}</div></li>`;
}

/** @param {string} rule @param {string|undefined} profile */
function profileTold(rule, profile) {
  if (rule === 'profile_pinned') return `${profile}, pinned on the token`;
  if (rule === 'profile_asked') return `${profile}, as asked for`;
  if (rule === 'profile_unknown_open') return 'an unknown profile hides nothing here';
  return profile ? profile : 'no profile: nothing is narrowed';
}
