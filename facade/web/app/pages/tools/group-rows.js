// The rows of one subject in the registry.
import { html } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Switch } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { duration } from '../../reading.js';
import { Link } from '../../router.js';
import { may } from '../../session.js';
import { isInfrastructure, summary } from './groups.js';
import { switchTool, wishes } from './policy.js';

const COLUMNS = 8;

/**
 * @param {{group: import('./groups.js').Group, open: boolean, fixed: boolean, figures: Map<string, import('./use-figures.js').Figures>|null, onTurn: () => void, reload: () => Promise<void>}} props
 *   fixed: it cannot be shut, because its rows were looked for
 */
export function GroupRows({ group, open, fixed, figures, onTurn, reload }) {
  const count = `${group.title} · ${group.tools.length} tool${group.tools.length === 1 ? '' : 's'}`;
  const head = fixed
    ? html`<tr class="group"><td colspan=${COLUMNS}>${count}</td></tr>`
    : html`<tr class=${open ? 'group' : 'group shut'}><td colspan=${COLUMNS}><button class="grp" type="button" aria-expanded=${String(open)} onClick=${onTurn}>
        <${Icon} name=${open ? 'down' : 'right'} small /><span class="nowrap">${count}</span><span class="faint">${summary(group.tools)}</span></button></td></tr>`;
  return html`${head}${open && group.tools.map((tool) => html`<${Row} key=${tool.name} tool=${tool} figures=${figures?.get(tool.name)} known=${figures !== null} reload=${reload} />`)}`;
}

/** @param {{tool: import('./groups.js').Tool, figures?: import('./use-figures.js').Figures, known: boolean, reload: () => Promise<void>}} props */
function Row({ tool, figures, known, reload }) {
  return html`<tr>
    <td><${Link} class="rowlink" href=${`/tools/${tool.name}`}><code class="break">${tool.name}</code><//>
      <span class="sub">${tool.title}<${Hidden} tool=${tool} /></span></td>
    <td class="md"><${Effect} effect=${tool.effect} /></td>
    <td class="sm"><${Freshness} freshness=${tool.freshness} /></td>
    <td class="lg dim">${targets(tool)}</td>
    <td class="r md dim">${known ? (figures?.calls ?? 0).toLocaleString('en-GB') : '–'}</td>
    <td class="r lg dim">${duration(figures?.p95)}</td>
    <td class="r lg dim">${tool.tokens.toLocaleString('en-GB')}</td>
    <td class="r"><${OnOff} tool=${tool} reload=${reload} /></td>
  </tr>`;
}

/** What hides it, if it is not the switch, which shows itself. @param {{tool: import('./groups.js').Tool}} props */
function Hidden({ tool }) {
  const word = tool.state === 'listed' && tool.targets === 0 && isInfrastructure(tool) ? 'no target' : { no_back_end: 'no target', read_only: 'hidden: back end is read only', on_request: 'on request of a profile' }[tool.state];
  return word ? html` <span class="faint">· ${word}</span>` : null;
}

/** @param {{effect: string}} props */
export const Effect = ({ effect }) => (effect === 'write'
  ? html`<${Badge} state="write" icon="pen">write<//>`
  : html`<${Badge} icon=${effect === 'read' ? 'eye' : undefined}>${effect}<//>`);

/** @param {{freshness?: string}} props */
export function Freshness({ freshness }) {
  if (freshness === 'live') return html`<${Badge} state="live">live<//>`;
  return freshness ? html`<${Badge} icon="clock">${freshness}<//>` : html`<span class="faint">–</span>`;
}

/** @param {import('./groups.js').Tool} tool */
const targets = (tool) => (tool.targets === 0 ? '–' : `${tool.targets} target${tool.targets === 1 ? '' : 's'}`);

/** The switch, for those who may; a word for the others. @param {{tool: import('./groups.js').Tool, reload: () => Promise<void>}} props */
export function OnOff({ tool, reload }) {
  const off = wishes.value[tool.name] ?? tool.disabled;
  if (!may('change')) return html`<span class=${off ? 'warn small' : 'faint small'}>${off ? 'off' : 'on'}</span>`;
  return html`<${Switch} hideLabel label=${`${tool.name} on for this tenant`} checked=${!off}
    onChange=${(/** @type {boolean} */ on) => switchTool(tool.name, !on, reload)} />`;
}
