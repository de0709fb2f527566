// One tool of the registry: how it stands here, its schemas, and an example that can be called.
import { curl } from '../../api.js';
import { html } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { CopyAs, CopyButton } from '../../parts/code.js';
import { Empty } from '../../parts/empty.js';
import { JsonView } from '../../parts/json.js';
import { KeyValue } from '../../parts/kv.js';
import { Refusal } from '../../parts/note.js';
import { Page } from '../../parts/page.js';
import { Said } from '../../parts/said.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Table } from '../../parts/table.js';
import { Views } from '../../parts/views.js';
import { Link } from '../../router.js';
import { fieldsOf } from '../../schema.js';
import { may } from '../../session.js';
import { useGet } from '../../use.js';
import { variants } from '../test-call/copy.js';
import { hrefOf } from '../test-call/link.js';
import { exampleOf } from './example.js';
import { Effect, Freshness, OnOff } from './group-rows.js';
import { titleOf, subject } from './groups.js';
import { Standing } from './standing.js';

/** @param {{name: string}} props */
export function ToolPage({ name }) {
  const { data, error, reload } = useGet('/api/tools');
  const tool = data?.tools.find((/** @type {import('./groups.js').Tool} */ each) => each.name === name || each.functionName === name);
  const crumb = html`<${Link} href="/tools">Tools<//>${tool && html` / <${Link} href=${`/tools?of=${subject(tool)}`}>${titleOf(subject(tool))}<//>`}`;
  return html`<${Page} title=${tool?.title ?? name} lead=${html`<code class="break">${tool?.name ?? name}</code>`} crumb=${crumb} actions=${tool && html`<${Actions} tool=${tool} />`}>
    ${error && !data && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    ${!data && !error && html`<${Skeleton} rows=${6} />`}
    ${data && !tool && html`<section class="card"><${Empty} icon="tools" title="Not in the registry" text="What projects bring is listed with the project; everything else is in the registry.">
      <${Button} href="/tools">All tools<//><${Button} href="/fleet">Fleet<//><//></section>`}
    ${tool && html`<div class="split two-one"><div class="stack"><${Standing} tool=${tool} /><${About} tool=${tool} /></div>
      <div class="stack"><${Facts} tool=${tool} reload=${reload} /><${Example} tool=${tool} /></div></div>`}
  <//>`;
}

/** @param {{tool: import('./groups.js').Tool}} props */
const Actions = ({ tool }) => html`
  <${CopyButton} small=${false} text=${() => curl('GET', '/api/tools')}>Copy as curl<//>
  <${Button} href=${`/tools/why?tool=${encodeURIComponent(tool.name)}`}>Why not visible?<//>
  ${may('call') && tool.state === 'listed' && html`<${Button} kind="primary" icon="play" href=${hrefOf(tool.name, exampleOf(tool.inputSchema))}>Test call<//>`}`;

/** @param {{tool: import('./groups.js').Tool}} props */
function About({ tool }) {
  const promised = tool.outputSchema && Object.keys(tool.outputSchema).length > 0;
  return html`<section class="card" aria-labelledby="h-about">
    <div class="card-head"><h2 id="h-about">What it does</h2></div>
    <p class="card-body small"><${Said} text=${tool.description} /></p>
    <${Views} label="Schemas" views=${[
      { id: 'arguments', label: 'Arguments', count: fieldsOf(tool.inputSchema).length, children: html`<${Fields} schema=${tool.inputSchema} />` },
      { id: 'input', label: 'Input schema', children: html`<${JsonView} value=${tool.inputSchema} label="Input schema" />` },
      { id: 'output', label: 'Output schema', children: promised ? html`<${JsonView} value=${tool.outputSchema} label="Output schema" />`
        : html`<p class="card-body faint small">It promises no shape for its result: what its back end answers is passed on.</p>` },
    ]} />
  </section>`;
}

const COLUMNS = [
  { key: 'key', label: 'Argument', render: (/** @type {any} */ field) => html`<code class="break">${field.key}</code>${field.required && html`<span class="sub">required</span>`}` },
  { key: 'type', label: 'Type', className: 'sm dim', render: (/** @type {any} */ field) => html`<code>${field.type || field.kind}</code>` },
  { key: 'help', label: 'Meaning', render: (/** @type {any} */ field) => html`<span class="small"><${Said} text=${field.help} /></span>${choices(field) && html`<span class="sub">${choices(field)}</span>`}` },
  { key: 'initial', label: 'Default', className: 'md dim', render: (/** @type {any} */ field) => html`<code>${field.initial === undefined ? '–' : JSON.stringify(field.initial)}</code>` },
];

/** @param {{schema: any}} props */
const Fields = ({ schema }) => html`<${Table} label="Arguments" columns=${COLUMNS} rows=${fieldsOf(schema)} rowKey="key"
  empty=${html`<p class="card-body faint small">It takes no arguments.</p>`} />`;

/** @param {import('../../schema.js').FormField} field */
function choices(field) {
  if (field.kind === 'select') return `one of ${field.options.map((each) => each.label).join(', ')}`;
  return field.example && `such as ${field.example}`;
}

/** @param {{tool: import('./groups.js').Tool, reload: () => Promise<void>}} props */
const Facts = ({ tool, reload }) => html`<${Card} title="Here" actions=${html`<span class="small row tight">On <${OnOff} tool=${tool} reload=${reload} /></span>`}><${KeyValue} rows=${[
  ['Effect', html`<${Effect} effect=${tool.effect} />`],
  ['Freshness', tool.freshness && html`<${Freshness} freshness=${tool.freshness} />`],
  ['Adapter', html`<code>${tool.adapterType}</code>`],
  ['Targets', tool.targets],
  ['Schema', `${tool.tokens.toLocaleString('en-GB')} tokens`],
  ['For models', html`<code class="break">${tool.functionName}</code>`],
]} /><//>`;

/** @param {{tool: import('./groups.js').Tool}} props */
function Example({ tool }) {
  const asked = { name: tool.name, functionName: tool.functionName, args: exampleOf(tool.inputSchema), target: '' };
  return html`<${Card} title="Example" note="in each dialect"><${CopyAs} variants=${variants(asked)} wrap /><//>`;
}
