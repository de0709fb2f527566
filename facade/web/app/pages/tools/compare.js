// Two profiles side by side: what only one has, what both have, and which costs less.
import { html } from '../../html.js';
import { Select } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { Refusal } from '../../parts/note.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Link, setQuery } from '../../router.js';
import { useGet } from '../../use.js';

/** @typedef {{name: string, tokens: number}} Costed */

/** @param {{profiles: ReturnType<typeof useGet>, query: URLSearchParams}} props */
export function Compare({ profiles, query }) {
  if (profiles.error && !profiles.data) return html`<${Refusal} problem=${profiles.error} onRetry=${profiles.reload} />`;
  if (!profiles.data) return html`<${Skeleton} rows=${6} />`;
  const names = ['all', ...profiles.data.profiles.map((/** @type {any} */ each) => each.name)];
  const a = query.get('a') || 'implement';
  const b = query.get('b') || (a === 'review' ? 'implement' : 'review');
  return html`<section class="card" aria-labelledby="h-diff">
    <div class="card-head"><h2 id="h-diff">Compare</h2>
      <div class="row push"><${Choice} label="First profile" value=${a} names=${names} onChange=${(/** @type {string} */ next) => setQuery({ a: next })} />
        <${Icon} name="right" small /><${Choice} label="Second profile" value=${b} names=${names} onChange=${(/** @type {string} */ next) => setQuery({ b: next })} /></div></div>
    <${Difference} a=${a} b=${b} />
  </section>`;
}

/** @param {{label: string, value: string, names: string[], onChange: (name: string) => void}} props */
function Choice({ label, value, names, onChange }) {
  const options = names.includes(value) ? names : [value, ...names];
  return html`<${Select} class="sel" aria-label=${label} value=${value} options=${options.map((name) => ({ value: name, label: name === 'all' ? 'all tools' : name }))} onChange=${onChange} />`;
}

/** @param {{a: string, b: string}} props */
function Difference({ a, b }) {
  const first = useGet(`/api/profiles/${encodeURIComponent(a)}/cost`);
  const second = useGet(`/api/profiles/${encodeURIComponent(b)}/cost`);
  const failed = first.error ? first : second.error ? second : null;
  if (failed?.error) return html`<div class="card-body"><${Refusal} problem=${failed.error} onRetry=${failed.reload} /></div>`;
  if (!first.data || !second.data) return html`<${Skeleton} rows=${6} />`;
  const inA = new Set(first.data.tools.map((/** @type {Costed} */ tool) => tool.name));
  const inB = new Set(second.data.tools.map((/** @type {Costed} */ tool) => tool.name));
  const onlyA = first.data.tools.filter((/** @type {Costed} */ tool) => !inB.has(tool.name));
  const onlyB = second.data.tools.filter((/** @type {Costed} */ tool) => !inA.has(tool.name));
  const both = first.data.tools.filter((/** @type {Costed} */ tool) => inB.has(tool.name));
  return html`<div class="diff">
      <${Side} kind="minus" title=${`Only in ${a}`} tools=${onlyA} /><${Side} kind="plus" title=${`Only in ${b}`} tools=${onlyB} /><${Side} kind="same" title="In both" tools=${both} />
    </div>
    <div class="card-foot" role="status"><${Verdict} a=${a} b=${b} from=${first.data.cost} to=${second.data.cost} /></div>`;
}

/** @param {{kind: string, title: string, tools: Costed[]}} props */
const Side = ({ kind, title, tools }) => html`<div class=${kind}>
  <h3>${title} <span class="faint num">${tools.length}</span></h3>
  ${tools.length === 0 && html`<p class="small faint">nothing</p>`}
  <ul>${tools.map((tool) => html`<li key=${tool.name}><${Link} class="rowlink break" href=${`/tools/${tool.name}`}>${tool.name}<//><span class="c">${tool.tokens}</span></li>`)}</ul>
</div>`;

/** @param {{a: string, b: string, from: import('./profiles.js').Cost, to: import('./profiles.js').Cost}} props */
function Verdict({ a, b, from, to }) {
  const lighter = from.listedTokens - to.listedTokens;
  if (lighter === 0) return html`<span>Both cost ${from.listedTokens.toLocaleString('en-GB')} tokens</span>`;
  const [name, by] = lighter > 0 ? [b, lighter] : [a, -lighter];
  const tools = Math.abs(from.toolCount - to.toolCount);
  return html`<span>${name} is <b class="ok">${by.toLocaleString('en-GB')} tokens</b> lighter${tools > 0 && `: ${tools} tool${tools === 1 ? '' : 's'} of difference`}</span>`;
}
