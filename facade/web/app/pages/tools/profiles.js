// What each profile costs a model before the first word is said, and who works under it.
import { html, useState } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Bar } from '../../parts/bars.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Refusal } from '../../parts/note.js';
import { Table } from '../../parts/table.js';
import { Link, go } from '../../router.js';
import { may, me } from '../../session.js';
import { useGet } from '../../use.js';
import { ProfileDialog } from './profile-dialog.js';
import { WITHOUT } from './groups.js';
import { pinnedTo, useTokens } from './use-tokens.js';

/**
 * @typedef {{profile: string, toolCount: number, tokens: number, allTokens: number, savedTokens: number, listedTokens: number, searchTokens: number, tokenBudget?: number}} Cost
 * @typedef {{name: string, description: string, tools: string[], builtIn: boolean, taskKinds: string[], disclosure: string, tokenBudget?: number, resultCap?: number, updatedAt?: string}} Profile
 */

/** @param {{profiles: ReturnType<typeof useGet>}} props */
export function Profiles({ profiles }) {
  const [making, setMaking] = useState(false);
  const costs = useGet('/api/profile-costs');
  const { tokens, waiting } = useTokens();
  const error = profiles.error ?? costs.error;
  if (error && !costs.data) return html`<${Refusal} problem=${error} onRetry=${() => { profiles.reload(); costs.reload(); }} />`;
  const known = new Map((profiles.data?.profiles ?? []).map((/** @type {Profile} */ each) => [each.name, each]));
  const made = () => { profiles.reload(); costs.reload(); };
  return html`<${Card} flush title="What each profile costs a model" note="schema tokens before the first word, o200k"
    actions=${may('change') && html`<${Button} small icon="plus" onClick=${() => setMaking(true)}>New profile<//>`}>
    <${Table} label="Profiles" columns=${columns(known, tokens)} rows=${waiting || !profiles.data ? undefined : costs.data?.costs} rowKey="profile"
      onOpen=${(/** @type {Cost} */ cost) => go(`/tools/profiles/${cost.profile}`)} />
    ${making && html`<${ProfileDialog} onClose=${() => setMaking(false)} onSaved=${made} />`}
  <//>`;
}

/** @param {Map<string, Profile>} known @param {import('./use-tokens.js').Token[]|null} tokens */
function columns(known, tokens) {
  const all = [
    { key: 'profile', label: 'Profile', className: 'name', render: (/** @type {Cost} */ cost) => html`<${Name} cost=${cost} profile=${known.get(cost.profile)} />` },
    { key: 'toolCount', label: 'Tools', className: 'num', render: (/** @type {Cost} */ cost) => html`${cost.toolCount}${brings(known.get(cost.profile)) && html`<span class="sub">+ projects'</span>`}` },
    { key: 'listedTokens', label: 'Tokens', className: 'num strong', render: (/** @type {Cost} */ cost) => cost.listedTokens.toLocaleString('en-GB') },
    {
      key: 'share', label: 'Share of the full set', hideLabel: true, className: 'sm wbar',
      render: (/** @type {Cost} */ cost) => html`<${Bar} part=${cost.listedTokens} of=${cost.allTokens} label=${`${cost.listedTokens} of ${cost.allTokens} tokens`} />`,
    },
    { key: 'saves', label: 'Saves', className: 'num', render: (/** @type {Cost} */ cost) => html`<${Saving} cost=${cost} />` },
  ];
  if (!tokens) return all;
  return [...all, {
    key: 'used', label: 'Pinned by', className: 'md dim',
    render: (/** @type {Cost} */ cost) => (cost.profile === 'all' ? html`<span class="faint">${count(pinnedTo(tokens, 'all').length)} without one</span>` : count(pinnedTo(tokens, cost.profile).length)),
  }];
}

/** Whether tools of projects come on top of those that are counted. @param {Profile|undefined} profile */
const brings = (profile) => profile?.tools.some((name) => name.endsWith('*')) ?? false;

/** @param {number} tokens */
export const count = (tokens) => (tokens === 0 ? 'none' : `${tokens} token${tokens === 1 ? '' : 's'}`);

/** @param {{cost: Cost, profile: Profile|undefined}} props */
function Name({ cost, profile }) {
  const kinds = profile?.taskKinds.length ? `for tasks of kind ${profile.taskKinds.join(', ')}` : profile?.description;
  return html`<${Link} class="rowlink" href=${`/tools/profiles/${cost.profile}`}>${cost.profile === 'all' ? 'all tools' : cost.profile}<//>
    ${profile && !profile.builtIn && html` <${Badge} state="accent">yours<//>`}
    ${me.value?.profile === cost.profile && html` <${Badge}>you<//>`}
    <span class="sub">${cost.profile === 'all' ? `no profile; ${WITHOUT}` : kinds}${profile?.disclosure === 'search' && ' · found by search'}</span>`;
}

/** @param {{cost: Cost}} props */
export function Saving({ cost }) {
  const saved = cost.allTokens ? Math.round((cost.savedTokens / cost.allTokens) * 100) : 0;
  return saved ? html`<span class="ok">−${saved} %</span>` : html`<span class="faint">–</span>`;
}
