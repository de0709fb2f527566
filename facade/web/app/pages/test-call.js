// Test call: the same path an agent takes, the same limits, the same record.
import { html, useEffect, useRef } from '../html.js';
import { needStyle } from '../need-style.js';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/empty.js';
import { Refusal } from '../parts/note.js';
import { Page } from '../parts/page.js';
import { Skeleton } from '../parts/skeleton.js';
import { may } from '../session.js';
import { later } from '../later.js';
import { useGet, useKeys } from '../use.js';
import { Arguments } from './test-call/arguments.js';
import { Ended } from './test-call/ended.js';
import { recall } from './test-call/history.js';
import { ToolPicker } from './test-call/picker.js';
import { Running } from './test-call/running.js';
import { useCalling } from './test-call/use-calling.js';
import { YourCalls } from './test-call/your-calls.js';

await needStyle('test-call');

/** Loaded while the first call is under way. */
const Answered = later(() => import('./test-call/answered.js'), 'Answered');

const LEAD = 'The same path an agent takes, the same limits, the same record.';

/** @param {{query: URLSearchParams}} props */
export default function TestCall({ query }) {
  if (!may('call')) return html`<${NotYours} />`;
  return html`<${Calling} query=${query} />`;
}

/** @param {{query: URLSearchParams}} props */
function Calling({ query }) {
  const { data, error, loading, reload } = useGet('/api/mcp/tools');
  useEffect(recall, []);
  return html`<${Page} title="Test call" lead=${LEAD} wide>
    ${error && !data && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    ${loading && !data && html`<${Skeleton} rows=${8} />`}
    ${data && html`<${Desk} tools=${inOrder(data.tools)} query=${query} onStale=${reload} />`}
  <//>`;
}

/** Infrastructure first: it is what people ask by hand. @param {import('./test-call/picker.js').Tool[]} tools */
function inOrder(tools) {
  const places = ['proxmox', 'ssh', 'github', 'gitea'];
  const place = (/** @type {string} */ type) => (places.includes(type) ? places.indexOf(type) : places.length);
  return [...tools].sort((a, b) => place(a.adapterType) - place(b.adapterType));
}

/** @param {{tools: import('./test-call/picker.js').Tool[], query: URLSearchParams, onStale: () => void}} props */
function Desk({ tools, query, onStale }) {
  const desk = useCalling(tools, query, onStale);
  const { chosen, draft, call } = desk;
  const answer = useRef(/** @type {HTMLElement|null} */ (null));
  // On a narrow window the answer stands below the form.
  useEffect(() => { if (call) answer.current?.scrollIntoView({ block: 'nearest' }); }, [call?.began]);
  useKeys({ 'ctrl+Enter': () => desk.run() });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    desk.run();
  };
  return html`<div class="split call">
    <form class="stack" aria-label="Call" novalidate onSubmit=${submit}>
      <${ToolPicker} tools=${tools} chosen=${chosen} onPick=${desk.pick} />
      ${chosen && html`<${Arguments} key=${chosen.name} tool=${chosen} draft=${draft} errors=${desk.errors} targetError=${desk.targetError}
        busy=${desk.busy} onDraft=${desk.change} />`}
    </form>
    <div class="stack">
      <p class="sr" role="status">${call ? `${call.tool.name}: ${call.problem?.title || call.phase}` : ''}</p>
      <div ref=${answer}>${call ? html`<${Result} desk=${desk} call=${call} />` : html`<${NothingYet} any=${tools.length > 0} />`}</div>
      <${YourCalls} onOpen=${desk.open} />
    </div>
  </div>`;
}

/** @param {{desk: import('./test-call/use-calling.js').Desk, call: import('./test-call/state.js').Call}} props */
function Result({ desk, call }) {
  if (call.phase === 'answered') return html`<${Answered} key=${call.began} call=${call} onAgain=${desk.again} onNext=${desk.next} />`;
  if (call.phase === 'failed' || call.phase === 'cancelled') return html`<${Ended} key=${call.began} call=${call} onAgain=${desk.again} onCommand=${desk.command} />`;
  return html`<${Running} call=${call} onCancel=${desk.cancel} />`;
}

/** @param {{any: boolean}} props */
const NothingYet = ({ any }) => html`<section class="card">
  ${any
    ? html`<${Empty} icon="call" title="Nothing called yet" text="Choose a tool and press Call. The result, its events and the audit row appear here.">
        <kbd>/</kbd><span class="small faint">search tools</span><kbd>Ctrl</kbd><kbd>Enter</kbd><span class="small faint">call</span><//>`
    : html`<${Empty} icon="adapters" title="No tools yet" text="Tools appear once a target stands behind them."><${Button} kind="primary" href="/adapters/new">Add a target<//><//>`}
</section>`;

const NotYours = () => html`<${Page} title="Test call" lead=${LEAD}>
  <section class="card"><${Empty} icon="call" title="Your role does not call tools"
    text="Auditors read the record and verify it; admins and engineers call tools. What they call stands in the record, row by row.">
    <${Button} kind="primary" href="/audit">Open the record<//><//></section>
<//>`;
