// The registry as this tenant has it: every tool, what hides it, and the switch that takes it from every list.
import { html, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Empty } from '../../parts/empty.js';
import { Segmented, Select } from '../../parts/field.js';
import { SearchInput } from '../../parts/filters.js';
import { Refusal } from '../../parts/note.js';
import { Skeleton } from '../../parts/skeleton.js';
import { setQuery } from '../../router.js';
import { GroupRows } from './group-rows.js';
import { useFigures } from './use-figures.js';
import { grouped, subject, titleOf, wantedOf } from './groups.js';

const SHOWN = [
  { value: '', label: 'All' }, { value: 'read', label: 'Read' }, { value: 'write', label: 'Write' },
  { value: 'off', label: 'Off' }, { value: 'hidden', label: 'Hidden' },
];

/** @param {{registry: ReturnType<typeof import('../../use.js').useGet>, query: URLSearchParams}} props */
export function Registry({ registry, query }) {
  const { data, error, reload } = registry;
  if (error && !data) return html`<${Refusal} problem=${error} onRetry=${reload} />`;
  if (!data) return html`<section class="card"><${Skeleton} rows=${10} /></section>`;
  return html`<${List} tools=${data.tools} query=${query} reload=${reload} />`;
}

/** @param {{tools: import('./groups.js').Tool[], query: URLSearchParams, reload: () => Promise<void>}} props */
function List({ tools, query, reload }) {
  const wanted = { q: query.get('q') ?? '', show: query.get('show') ?? '', of: query.get('of') ?? '' };
  const narrowed = Boolean(wanted.q || wanted.show || wanted.of);
  const groups = grouped(wantedOf(tools, wanted));
  const subjects = [...new Set(tools.map(subject))].map((id) => ({ value: id, label: titleOf(id) }));
  return html`<section class="card" aria-label="Registry">
    <div class="card-head">
      <div class="grow"><${SearchInput} label="Search tools" placeholder=${`Search ${tools.length} tools`} value=${wanted.q}
        onChange=${(/** @type {string} */ q) => setQuery({ q: q || null })} /></div>
      <${Select} class="sel" aria-label="Adapter or subject" value=${wanted.of} options=${[{ value: '', label: 'All adapters' }, ...subjects]}
        onChange=${(/** @type {string} */ of) => setQuery({ of: of || null })} />
      <${Segmented} label="Which tools" value=${wanted.show} options=${SHOWN} onChange=${(/** @type {string} */ show) => setQuery({ show: show || null })} />
    </div>
    <p class="sr" role="status">${narrowed ? `${groups.reduce((sum, group) => sum + group.tools.length, 0)} of ${tools.length} tools` : ''}</p>
    ${groups.length > 0 && html`<${Table} groups=${groups} open=${narrowed} reload=${reload} />`}
    ${groups.length === 0 && html`<${Empty} icon="filter" title="No tool matches" text="Nothing of the registry has these words and this state.">
      <${Button} onClick=${() => setQuery({ q: null, show: null, of: null })}>Show all ${tools.length}<//><//>`}
  </section>`;
}

/** @param {{groups: import('./groups.js').Group[], open: boolean, reload: () => Promise<void>}} props open: all of them, because they were looked for */
function Table({ groups, open, reload }) {
  const figures = useFigures();
  const [turned, setTurned] = useState(/** @type {Record<string, boolean>} */ ({}));
  const isOpen = (/** @type {import('./groups.js').Group} */ group) => open || (turned[group.id] ?? group.infrastructure);
  return html`<table class="table" aria-label="Registry">
    <thead><tr><th scope="col">Tool</th><th scope="col" class="md">Effect</th><th scope="col" class="sm">Freshness</th>
      <th scope="col" class="lg">Targets</th><th scope="col" class="r md">Calls, 1 h</th><th scope="col" class="r lg">p95</th><th scope="col" class="r lg">Schema tokens</th><th scope="col" class="r">On</th></tr></thead>
    <tbody>${groups.map((group) => html`<${GroupRows} key=${group.id} group=${group} open=${isOpen(group)} fixed=${open} figures=${figures} reload=${reload}
      onTurn=${() => setTurned({ ...turned, [group.id]: !isOpen(group) })} />`)}</tbody>
  </table>`;
}
