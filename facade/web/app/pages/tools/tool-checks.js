// Choosing tools of the registry, with what the choice costs.
import { html, useState } from '../../html.js';
import { Check } from '../../parts/field.js';
import { SearchInput } from '../../parts/filters.js';
import { Skeleton } from '../../parts/skeleton.js';
import { grouped, wantedOf } from './groups.js';

/** @param {{tools: import('./groups.js').Tool[]|undefined, chosen: Set<string>, onChange: (chosen: Set<string>) => void}} props */
export function ToolChecks({ tools, chosen, onChange }) {
  const [q, setQ] = useState('');
  if (!tools) return html`<${Skeleton} lines=${4} />`;
  // The gateway's own come with disclosure and cap, and are not named.
  const choosable = tools.filter((tool) => tool.state !== 'on_request');
  const cost = choosable.filter((tool) => chosen.has(tool.name)).reduce((sum, tool) => sum + tool.tokens, 0);
  const turn = (/** @type {string[]} */ names, /** @type {boolean} */ on) => {
    const next = new Set(chosen);
    for (const name of names) on ? next.add(name) : next.delete(name);
    onChange(next);
  };
  return html`<fieldset class="stack tight">
    <legend class="legend">Tools <span class="opt">${chosen.size} chosen, ${cost.toLocaleString('en-GB')} schema tokens</span></legend>
    <${SearchInput} label="Search tools" value=${q} onChange=${setQ} slash=${false} />
    <div class="picker pad" tabindex="0" role="group" aria-label="Tools to choose">
      ${grouped(wantedOf(choosable, { q, show: '', of: '' })).map((group) => html`<div key=${group.id} class="stack tight checks">
        <${Check} label=${html`<b>${group.title}</b>`} checked=${group.tools.every((tool) => chosen.has(tool.name))} onChange=${(/** @type {boolean} */ on) => turn(group.tools.map((tool) => tool.name), on)} />
        ${group.tools.map((tool) => html`<${Check} key=${tool.name} label=${html`<code class="small">${tool.name}</code> <span class="faint small">${tool.tokens}</span>`}
          checked=${chosen.has(tool.name)} onChange=${(/** @type {boolean} */ on) => turn([tool.name], on)} />`)}
      </div>`)}
    </div>
  </fieldset>`;
}
