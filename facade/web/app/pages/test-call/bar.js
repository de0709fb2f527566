// The head of a result: how it stands, how long it took, which call it is.
import { html } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { CopyButton } from '../../parts/code.js';
import { useNow } from '../../use.js';
import { age, targetOf } from './outcome.js';
import { nextStep } from '../../refusals.js';
import { wordOf } from './refusals.js';
import { took } from './views/figures.js';

/** @typedef {import('./state.js').Call} Call */

/** @param {{call: Call, children?: any}} props children: what can be done now */
export function ResultBar({ call, children }) {
  return html`<div class="result-bar">
    <${Standing} call=${call} />
    ${call.id && html`<span class="row tight"><span class="faint small">call</span><code class="small break">${call.id}</code>
      <${CopyButton} text=${call.id} label="Copy correlation id" /></span>`}
    <span class="row tight push">${children}</span>
  </div>`;
}

/** @param {{call: Call}} props */
function Standing({ call }) {
  const name = html`<code class="small strong break">${call.tool.name}</code>`;
  if (call.phase === 'answered') return html`<${Answered} call=${call} />`;
  if (call.phase === 'cancelled') return html`<${Badge}>cancelled<//>${name}<span class="num faint">after ${took(call.took)}</span>`;
  if (call.phase === 'failed' && call.problem) {
    const { state, icon } = nextStep(call.problem);
    const word = wordOf(call.problem.reason);
    return html`<${Badge} state=${word === 'offline' ? 'offline' : state} icon=${word === 'offline' ? 'offline' : icon}>${word}<//>
      <code class="small strong">${call.problem.reason}</code>${name}
      <span class="num faint">${call.problem.status ? `${call.problem.status} in ` : 'after '}${took(call.took)}</span>`;
  }
  return html`<${Badge} state="accent">${call.lost ? 'reconnecting' : call.phase}<//>${name}`;
}

/** @param {{call: Call}} props */
function Answered({ call }) {
  const target = call.outcome && targetOf(call.outcome);
  const said = call.outcome?.isError ? html`<${Badge} state="warn" icon="warn">the tool said no<//>` : html`<${Badge} state="ok" icon="check">success<//>`;
  return html`${said}<${Freshness} call=${call} /><span class="num strong">${took(call.took)}</span>
    ${target && html`<span class="faint small">from <span class="break">${target.name}</span></span>`}
    ${call.breaks > 0 && html`<${Badge} icon="reload">connection resumed<//>`}`;
}

/** Only inventories may be old; what is live says so, and never an age. @param {{call: Call}} props */
function Freshness({ call }) {
  useNow(1000);
  const seconds = call.outcome ? age(call.outcome, performance.now() - call.received) : null;
  if (call.tool.freshness === 'inventory' && seconds !== null) return html`<${Badge} icon="clock">cached ${seconds} s ago<//>`;
  return call.tool.freshness === 'live' ? html`<${Badge} state="live">live<//>` : null;
}

/** @param {{onAgain: () => void, busy: boolean}} props */
export const Again = ({ onAgain, busy }) => html`<${Button} small icon="reload" disabled=${busy} onClick=${onAgain}>Again<//>`;
