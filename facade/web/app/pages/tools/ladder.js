// The rules of a catalog in the order in which they are asked, with the one that decided and where that is changed.
import { html } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Icon } from '../../parts/icon.js';
import { Said } from '../../parts/said.js';
import { Link, route } from '../../router.js';
import { changed } from '../../address.js';
import { may } from '../../session.js';
import { isInfrastructure } from './groups.js';
import { near } from './near.js';
import { lookup } from '../../lookup.js';

/** Each step with the rules that it can end at, and what it asks about where it was not needed. */
const STEPS = [
  { asks: 'The role', rules: ['role'], passed: 'The role may call tools', stopped: 'The role may not call tools' },
  { asks: 'The registry', rules: ['not_registered', 'write_attempt'], passed: 'In the registry', stopped: 'Not in the registry' },
  { asks: 'A target behind it', rules: ['no_back_end'], passed: 'A target stands behind it', stopped: 'No enabled target stands behind it' },
  { asks: "The tenant's switch", rules: ['policy'], passed: 'On for this tenant', stopped: 'Off for this tenant' },
  { asks: 'The profile', rules: ['gateway_tool', 'profile_pinned', 'profile_asked', 'profile_unknown_closed'], passed: 'In the profile', stopped: 'Not in the profile' },
  { asks: 'Its effect', rules: ['read_only'], passed: 'Its effect is allowed there', stopped: 'It writes, and its back ends may only be read' },
  { asks: 'List or search', rules: ['disclosure_search', 'project'], passed: 'In the list', stopped: 'Not in the list: it is found by search, or by its project' },
];

const STATES = /** @type {Record<string, 'ok'|'warn'|'bad'|'idle'>} */ (lookup({ listed: 'ok', callable: 'ok', hidden: 'warn', denied: 'bad', unknown: 'idle' }));

/** @typedef {{verdict: string, rule: string, sentence: string, tool?: string, profile?: string}} Answer */

/** @param {{answer: Answer, asked: string, tools: import('./groups.js').Tool[]}} props asked: the name as it was given; tools: those of the registry */
export function Ladder({ answer, asked, tools }) {
  const { verdict, rule, profile } = answer;
  const end = STEPS.findIndex((step) => step.rules.includes(rule));
  // A profile that has the tool is the rule that lists it: everything was passed.
  const listed = verdict === 'listed';
  const tool = tools.find(({ name }) => name === answer.tool);
  const names = STEPS[1]?.rules.includes(rule) ? near(asked, tools.map(({ name }) => name)) : [];
  const sentence = names.length ? answer.sentence.replace(/, did you mean [^,]*$/, '') : answer.sentence;
  return html`<p class="row"><${Badge} state=${STATES[verdict] ?? 'idle'} icon=${listed ? 'check' : undefined}>${verdict}<//><code class="small faint">${rule}</code></p>
    <p role="status"><${Said} text=${`${sentence}.`} /></p>
    ${names.length > 0 && html`<p>Did you mean ${names.map((name, at) => html`${at > 0 && (at === names.length - 1 ? ' or ' : ', ')}<${Link} href=${changed(route.value.path + location.search, { tool: name })}><code class="break">${name}</code><//>`)}?</p>`}
    <ul class="why" aria-label="Rules in the order they are asked">${STEPS.map((step, at) => {
      const state = listed || end < 0 || at < end ? 'ok' : at > end ? 'open' : 'stop';
      const bare = step.rules.includes('no_back_end') && state === 'ok' && tool && tool.targets === 0 && isInfrastructure(tool);
      return html`<${Step} key=${step.passed} step=${bare ? BARE : step} state=${state} mild=${verdict === 'callable'}
        detail=${step.rules.includes('profile_pinned') && state !== 'open' ? profileTold(rule, profile) : ''} pinned=${state === 'stop' && rule === 'profile_pinned' && may('change')}
        place=${state === 'stop' || bare ? placeOf(bare ? 'no_back_end' : rule, answer) : null} />`;
    })}</ul>`;
}

/** Infrastructure is listed before there is anything to ask. */
const BARE = { asks: '', rules: [], passed: 'Listed, though no target stands behind it yet', stopped: '' };

/** @param {{step: typeof STEPS[number], state: 'ok'|'stop'|'open', mild: boolean, detail: string|undefined, place: [string, string]|null, pinned: boolean}} props pinned: a token decided as well */
function Step({ step, state, mild, detail, place, pinned }) {
  if (state === 'open') return html`<li><${Icon} name="minus" small /><div class="faint">${step.asks}<small>not needed: it was decided above</small></div></li>`;
  const [icon, tone] = state === 'ok' ? ['check', 'ok'] : [mild ? 'info' : 'cross', mild ? 'warn' : 'bad'];
  return html`<li><span class=${tone}><${Icon} name=${icon} small /></span><div>
    ${state === 'stop' ? html`<b class="strong">${step.stopped}</b>` : step.passed}${detail && html`<small>${detail}</small>`}
    ${place && html`<small><${Link} href=${place[1]}>${place[0]}<//>${pinned && html`, or <${Link} href="/access">the token that pins it<//>`}</small>`}</div></li>`;
}

/** Where the rule that decided is changed, for those who may. @param {string} rule @param {Answer} answer @returns {[string, string]|null} */
function placeOf(rule, { tool = '', profile }) {
  const own = profile && `/tools/profiles/${encodeURIComponent(profile)}`;
  if (rule === 'policy') return ['The switch of the tool', `/tools/${encodeURIComponent(tool)}`];
  if (rule === 'no_back_end') return may('change') ? ['Add a target', '/adapters/new'] : ['Adapters', '/adapters'];
  if (rule === 'read_only') return ['Its targets', '/adapters'];
  if (rule === 'role') return may('change') ? ['Tokens and their roles', '/access'] : ['The roles', '/access/roles'];
  if (rule === 'gateway_tool') return ['Profiles that have it', '/tools/profiles'];
  if (rule === 'not_registered' || rule === 'write_attempt') return ['All tools of the registry', '/tools'];
  return own ? [`The profile ${profile}`, own] : null;
}

/** @param {string} rule @param {string|undefined} profile */
function profileTold(rule, profile) {
  if (rule === 'profile_pinned') return `${profile}, pinned on the token`;
  if (rule === 'profile_asked') return `${profile}, as asked for`;
  if (rule === 'profile_unknown_open') return 'an unknown profile hides nothing here';
  return profile ? profile : 'no profile: nothing is narrowed';
}
