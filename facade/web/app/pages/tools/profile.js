// One profile: its tools with what each costs, who works under it, and how it is asked for.
import { curl, del } from '../../api.js';
import { html, useState } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Bar } from '../../parts/bars.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code, CopyButton } from '../../parts/code.js';
import { Confirm } from '../../parts/dialog.js';
import { KeyValue } from '../../parts/kv.js';
import { Refusal } from '../../parts/note.js';
import { Page } from '../../parts/page.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Table } from '../../parts/table.js';
import { Ago } from '../../parts/time.js';
import { Link, go } from '../../router.js';
import { may } from '../../session.js';
import { useGet } from '../../use.js';
import { ProfileDialog } from './profile-dialog.js';
import { unused } from '../access/use.js';
import { count } from './profiles.js';
import { pinnedTo, useTokens } from './use-tokens.js';
import { WITHOUT } from './groups.js';

const NONE = { name: 'all', description: 'No profile: everything the caller may otherwise have.', tools: [], builtIn: true, taskKinds: [], disclosure: 'direct' };

/** @param {{name: string}} props */
export function Profile({ name }) {
  const one = useGet(name === 'all' ? null : `/api/profiles/${encodeURIComponent(name)}`);
  const cost = useGet(`/api/profiles/${encodeURIComponent(name)}/cost`);
  const profile = name === 'all' ? NONE : one.data?.profile;
  const error = one.error ?? cost.error;
  const reload = () => { one.reload(); cost.reload(); };
  return html`<${Page} title=${name === 'all' ? 'All tools' : name} lead=${profile?.description} crumb=${html`<${Link} href="/tools">Tools<//> / <${Link} href="/tools/profiles">Profiles<//>`}
    actions=${profile && html`<${Actions} profile=${profile} reload=${reload} />`}>
    ${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
    ${!profile && !error && html`<${Skeleton} rows=${6} />`}
    ${profile && cost.data && html`<div class="split two-one">
      <${CostList} of=${cost.data} />
      <div class="stack"><${Facts} profile=${profile} cost=${cost.data.cost} /><${Users} name=${name} />${name !== 'all' && html`<${Asking} name=${name} />`}</div>
    </div>`}
  <//>`;
}

/** @param {{profile: import('./profiles.js').Profile, reload: () => void}} props */
function Actions({ profile, reload }) {
  const [open, setOpen] = useState('');
  const own = may('change') && !profile.builtIn;
  const path = `/api/profiles/${encodeURIComponent(profile.name)}`;
  const close = () => setOpen('');
  return html`
    <${CopyButton} small=${false} text=${() => curl('GET', `${path}/cost`)}>Copy as curl<//>
    <${Button} href=${`/tools/compare?a=${encodeURIComponent(profile.name)}`}>Compare<//>
    ${own && html`<${Button} icon="pen" onClick=${() => setOpen('edit')}>Edit<//><${Button} kind="danger" icon="trash" onClick=${() => setOpen('delete')}>Delete<//>`}
    ${open === 'edit' && html`<${ProfileDialog} profile=${profile} onClose=${close} onSaved=${reload} />`}
    ${open === 'delete' && html`<${Confirm} title=${`Delete profile ${profile.name}?`} confirmLabel="Delete" onClose=${close}
      consequences=${['Requests that ask for it are then requests with an unknown profile.', 'It is refused while a live token pins it.']}
      onConfirm=${async () => { await del(path); go('/tools/profiles'); }} />`}`;
}

/** @param {{of: {cost: import('./profiles.js').Cost, tools: {name: string, tokens: number}[]}}} props */
function CostList({ of }) {
  const most = of.tools[0]?.tokens ?? 0;
  const columns = [
    { key: 'name', label: 'Tool', render: (/** @type {any} */ tool) => html`<${Link} class="rowlink" href=${`/tools/${tool.name}`}><code class="break">${tool.name}</code><//>` },
    { key: 'bar', label: 'Share', hideLabel: true, className: 'sm wbar', render: (/** @type {any} */ tool) => html`<${Bar} part=${tool.tokens} of=${most} />` },
    { key: 'tokens', label: 'Schema tokens', className: 'num' },
  ];
  return html`<${Card} flush title="Tools" note=${`${of.cost.toolCount}, the dearest first${of.cost.profile === 'all' ? `; ${WITHOUT}` : ''}`}>
    <${Table} label="Tools of the profile" columns=${columns} rows=${of.tools} rowKey="name" empty=${html`<p class="card-body faint">It has no tools.</p>`} />
  <//>`;
}

/** @param {{profile: import('./profiles.js').Profile, cost: import('./profiles.js').Cost}} props */
function Facts({ profile, cost }) {
  const figure = (/** @type {number} */ value) => value.toLocaleString('en-GB');
  return html`<${Card} title="What it costs"><${KeyValue} rows=${[
    ['Listed', `${figure(cost.listedTokens)} tokens`],
    ['All tools', `${figure(cost.allTokens)} tokens`],
    ['Saves', html`<span class=${cost.savedTokens ? 'ok' : 'faint'}>${figure(cost.savedTokens)} tokens</span>`],
    ['By search', `${figure(cost.searchTokens)} tokens`],
    ['Disclosure', profile.disclosure === 'search' ? 'search: found, then called' : 'direct: in the list'],
    ['Budget', cost.tokenBudget !== undefined && `${figure(cost.tokenBudget)} tokens`],
    ['Result cap', profile.resultCap !== undefined && `${figure(profile.resultCap)} tokens`],
    ['Task kinds', profile.taskKinds.length > 0 && profile.taskKinds.join(', ')],
    ['Whose', profile.builtIn ? html`<${Badge}>of the contract<//>` : html`<${Badge} state="accent">yours<//>`],
    ['Changed', profile.updatedAt && html`<${Ago} at=${profile.updatedAt} />`],
  ]} /><//>`;
}

/** @param {{name: string}} props */
function Users({ name }) {
  const { tokens, more, waiting } = useTokens();
  if (waiting) return html`<${Card} title="Who uses it"><${Skeleton} lines=${3} /><//>`;
  if (!tokens) return null;
  const pinned = pinnedTo(tokens, name);
  return html`<${Card} title="Who uses it" note=${name === 'all' ? 'tokens without a profile' : 'tokens that pin it'}>
    ${pinned.length === 0 && html`<p class="small faint">${name === 'all' ? 'Every live token pins a profile.' : 'No token pins it. Callers may still ask for it by header, path or TATARA_TOOL_PROFILE.'}</p>`}
    ${pinned.length > 0 && html`<ul class="stack tight small">${pinned.slice(0, 30).map((token) => html`<li class="row">
      <b class="strong break">${token.name}</b><span class="faint">${token.role}</span><span class="push faint">${token.lastUsedAt ? html`used <${Ago} at=${token.lastUsedAt} />` : `use ${unused(tokens)}`}</span></li>`)}</ul>`}
    <p class="small faint">${pinned.length > 0 && `${count(pinned.length)}${more ? ' among the newest 200' : ''}. `}<${Link} href="/access">All tokens<//></p>
  <//>`;
}

/** @param {{name: string}} props */
const Asking = ({ name }) => html`<${Card} title="How it is asked for"><div class="stack tight">
  <${Code} label="MCP" text=${`${location.origin}/mcp/p/${name}`} /><${Code} label="Header" text=${`toolgate-profile: ${name}`} />
  <${Code} label="Pods" text=${`TATARA_TOOL_PROFILE=${name}`} /></div><//>`;
