// A call that came to its answer: the answer in its best view, as text, as raw JSON, and what happened on the way.
import { writeExact } from '../../exact.js';
import { html, useMemo } from '../../html.js';
import { Button } from '../../parts/button.js';
import { JsonView } from '../../parts/json.js';
import { Note } from '../../parts/note.js';
import { Views } from '../../parts/views.js';
import { AuditLink } from './audit-link.js';
import { Again, ResultBar } from './bar.js';
import { Lines } from './lines.js';
import { otherBlocks, textOf } from './outcome.js';
import { viewOf } from './views/of.js';

/** Longer texts are shown in part. */
const LONGEST = 400_000;

/** @param {{call: import('./state.js').Call, onAgain: () => void, onNext: (cursor: string) => void}} props */
export function Answered({ call, onAgain, onNext }) {
  const { outcome } = call;
  if (!outcome) return null;
  const best = viewOf(call.tool.name, outcome);
  const views = [
    ...(best ? [best] : []),
    { id: 'text', label: 'Text', children: html`<${Text} outcome=${outcome} />` },
    { id: 'json', label: 'Raw JSON', children: html`<${Raw} outcome=${outcome} />` },
    { id: 'events', label: 'Events', count: call.lines.length, children: html`<${Lines} call=${call} />` },
  ];
  const cursor = outcome.structuredContent?.more && outcome.structuredContent.next_cursor;
  return html`<section class="card answer" aria-label="Result">
    <${ResultBar} call=${call}><${Again} onAgain=${onAgain} busy=${false} /><//>
    ${outcome.isError && html`<div class="card-body"><${Note} state="warn" title="The tool ran and said no.">
      What it says stands below. It is an answer, not a failure of the gateway.<//></div>`}
    <${Views} label="Result view" views=${views} />
    <div class="card-foot">
      <${AuditLink} call=${call} />
      <span class="row tight push">
        ${cursor && html`<${Button} kind="quiet" small icon="right" onClick=${() => onNext(cursor)}>Next page<//>`}
        <${Button} kind="quiet" small icon="save" onClick=${() => save(call)}>Save JSON<//>
      </span>
    </div>
  </section>`;
}

/** @param {{outcome: import('./outcome.js').Outcome}} props */
function Raw({ outcome }) {
  const text = useMemo(() => writeExact(outcome, 2), [outcome]);
  return text.length > LONGEST ? html`<div class="card-body"><${Cut} text=${text} /></div>` : html`<${JsonView} value=${outcome} label="Raw JSON result" />`;
}

/** So much of a long text as a page can hold at ease. @param {{text: string}} props */
const Cut = ({ text }) => html`<pre class="answer-text" tabindex="0" aria-label="Beginning of the result">${text.slice(0, LONGEST)}</pre>
  <p class="small faint">The first ${LONGEST / 1000} kB of ${Math.round(text.length / 1000)} kB; Save JSON has all of it.</p>`;

/** @param {{outcome: import('./outcome.js').Outcome}} props */
function Text({ outcome }) {
  const others = otherBlocks(outcome);
  const text = textOf(outcome) || 'It holds no text.';
  return html`<div class="card-body stack">
    ${text.length > LONGEST ? html`<${Cut} text=${text} />` : html`<pre class="answer-text" tabindex="0" aria-label="Text of the result">${text}</pre>`}
    ${others.length > 0 && html`<p class="faint small">${others.length} more parts that are no text (${others.map((block) => block.type).join(', ')}): see raw JSON.</p>`}
  </div>`;
}

/** @param {import('./state.js').Call} call */
function save(call) {
  const url = URL.createObjectURL(new Blob([writeExact(call.outcome, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${call.tool.name}-${call.id}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
