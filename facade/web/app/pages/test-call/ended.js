// A call that ended without an answer: what happened, why, what to do next, and the reason word.
import { html } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Note, Refusal } from '../../parts/note.js';
import { useNow } from '../../use.js';
import { Commands } from './commands.js';
import { AuditLink } from './audit-link.js';
import { Again, ResultBar } from './bar.js';
import { Lines } from './lines.js';
import { placeOf } from './refusals.js';

/** @param {{call: import('./state.js').Call, onAgain: () => void, onCommand: (command: string) => void}} props */
export function Ended({ call, onAgain, onCommand }) {
  const { problem } = call;
  if (!problem) return null;
  return html`<section class="card answer" aria-label="Result">
    <${ResultBar} call=${call}>${!problem.retryAfter && html`<${Again} onAgain=${onAgain} busy=${false} />`}<//>
    <div class="card-body stack">
      ${call.phase === 'cancelled' ? html`<${Cancelled} call=${call} />` : html`<${Why} call=${call} problem=${problem} onAgain=${onAgain} />`}
      ${problem.reason === 'WRITE_REJECTED' && call.tool.adapterType === 'ssh' && html`<div class="stack tight"><h3>Commands that work</h3><${Commands} onCommand=${onCommand} /></div>`}
    </div>
    <${Lines} call=${call} />
    <div class="card-foot"><${AuditLink} call=${call} /></div>
  </section>`;
}

/** @param {{call: import('./state.js').Call}} props */
function Cancelled({ call }) {
  const confirmed = Boolean(call.problem?.body.correlationId);
  const how = call.left
    ? confirmed ? 'The gateway closed its request to the target and says that the call ended as cancelled.' : 'The stream was left, which cancels the call.'
    : 'With its last reader gone the gateway cancelled the call. Call it again.';
  return html`<${Note} state=${call.left ? 'idle' : 'warn'} title=${call.left ? 'You cancelled it.' : 'The connection broke off.'}>
    ${how}${call.tool.writes && ' It is a tool that writes: what it had done by then stands in its audit row.'}<//>`;
}

/** @param {{call: import('./state.js').Call, problem: import('../../api.js').Problem, onAgain: () => void}} props */
function Why({ call, problem, onAgain }) {
  const place = placeOf(problem, call);
  const wait = problem.retryAfter;
  const action = (wait || place) && html`
    ${wait && html`<${Countdown} seconds=${wait} since=${call.began + (call.took ?? 0)} onAgain=${onAgain} />`}
    ${place && html`<${Button} small href=${place.href}>${place.label}<//>`}`;
  return html`<div class="stack tight"><${Refusal} problem=${problem} />${action && html`<div class="row">${action}</div>`}</div>`;
}

/** Counts down what the gateway or the target asks to wait. @param {{seconds: number, since: number, onAgain: () => void}} props */
function Countdown({ seconds, since, onAgain }) {
  useNow(250);
  const left = Math.max(0, Math.ceil(seconds - (performance.now() - since) / 1000));
  return html`<${Button} small icon="reload" disabled=${left > 0} onClick=${onAgain}>${left > 0 ? `Call again in ${left} s` : 'Call again'}<//>`;
}
