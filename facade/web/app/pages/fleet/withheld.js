// A list of tools that changed and is kept back: what is new, changed or gone, in both wordings, and the word that lets it in.

import { html, useState } from '../../html.js';
import { may } from '../../session.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Confirm } from '../../parts/dialog.js';
import { Note } from '../../parts/note.js';
import { accept } from './change.js';
import { compared, laidOut } from './text-diff.js';
import { lookup } from '../../lookup.js';

/** @typedef {import('./project.js').Project} Project */
/** @typedef {import('./project.js').Tool} Tool */

/** @type {Record<string, 'ok' | 'warn' | 'bad'>} */
const SHADES = lookup({ new: 'ok', changed: 'warn', gone: 'bad' });

/** What the definition says, in lines; of a changed one with what it said before. @param {Tool} tool @returns {import('./text-diff.js').Line[]} */
function linesOf({ change, definition = '', formerDefinition = '' }) {
  if (change === 'changed' && formerDefinition) return compared(laidOut(formerDefinition), laidOut(definition));
  return laidOut(definition).map((text) => ({ kind: 'now', text }));
}

/** @type {Record<string, string>} */
const MARKS = lookup({ was: '−', now: '+', same: ' ' });

/** @param {{tool: Tool}} props */
function Changed({ tool }) {
  return html`<li class="change">
    <div class="row"><${Badge} state=${SHADES[tool.change] ?? 'idle'}>${tool.change || 'unknown'}<//><code class="strong break">${tool.name}</code>
      <span class="small faint">${tool.readOnly ? 'says that it only reads' : 'may write'}</span></div>
    ${tool.definition && tool.change !== 'gone'
      ? html`<pre class="lines" tabindex="0" aria-label=${`Definition of ${tool.name}`}>${linesOf(tool).map(
          ({ kind, text }) => html`<span class=${kind}><span aria-hidden="true">${MARKS[kind]} </span>${kind !== 'same' && html`<span class="sr">${kind === 'was' ? 'before: ' : 'now: '}</span>`}${text}
</span>`,
        )}</pre>`
      : html`<p class=${tool.change === 'gone' ? 'was break' : 'now break'}>${tool.description || '(no text)'}</p>`}
  </li>`;
}

/** @param {{project: Project, withheld: Tool[], reload: () => void}} props */
export function Withheld({ project, withheld, reload }) {
  const [asking, setAsking] = useState(false);
  const told = withheld.filter(({ change }) => change !== 'same');
  const same = withheld.length - told.length;
  const consequences = [
    'Models read these texts from now on, in the list and in every call.',
    'Its tools are listed again and calls go through.',
    'The list is on the record by its hash, with your name.',
  ];
  const foot = may('change')
    ? html`<${Button} kind="primary" icon="check" onClick=${() => setAsking(true)}>Accept this list<//><code class="small faint break">${project.withheldHash}</code>`
    : html`<span>An admin accepts it.</span>`;
  return html`<${Card} title="Changed tools, kept back" foot=${foot}>
    <${Note} state="warn" title="Its tools have changed and wait for an admin’s word.">Until then it shows no tools and takes no calls. The texts below are its own; read them as a model would.<//>
    <ul class="changes">
      ${told.map((tool) => html`<${Changed} key=${tool.name} tool=${tool} />`)}
    </ul>
    ${same > 0 && html`<p class="help">${same} ${same === 1 ? 'tool is' : 'tools are'} as before.</p>`}
    <${Confirm} open=${asking} title=${`Accept the tools of ${project.name}?`} consequences=${consequences} confirmLabel="Accept this list" keepLabel="Keep it back"
      onConfirm=${() => accept(project).then(reload)} onClose=${() => setAsking(false)} />
  <//>`;
}
