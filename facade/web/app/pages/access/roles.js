// The four roles and what each may.
import { html } from '../../html.js';
import { me } from '../../session.js';
import { Card } from '../../parts/card.js';
import { Icon } from '../../parts/icon.js';

export const ROLES = [
  { id: 'agent', lead: 'Calls the tools of its profile and sees nothing else.' },
  { id: 'engineer', lead: 'Calls tools, sees targets and the own rows of the record.' },
  { id: 'auditor', lead: 'Reads, verifies and exports the record; calls nothing.' },
  { id: 'admin', lead: 'Changes targets, policy, profiles and tokens.' },
];

/** A role with its profile, in a word. @param {{role: string, profile?: string}} token */
export const roleText = ({ role, profile }) => (profile ? `${role}, profile ${profile}` : role);

const COLUMNS = ['admin', 'engineer', 'auditor', 'agent'];

/** true: all of it; a text: that part of it; false: nothing. @type {[string, (boolean | string)[]][]} */
const MATRIX = [
  ['List and call tools', [true, true, false, 'its profile']],
  ['See targets, projects, health', [true, true, true, 'names']],
  ['Change targets, policy, profiles, tokens', [true, 'test only', false, false]],
  ['Read, verify, export audit', [true, 'own calls', true, false]],
];

export const Roles = () => html`
  <${Card} title="Roles" note=${`four, fixed; you are ${me.value?.role}`} flush>
    <table class="table matrix" aria-label="What each role may">
      <thead><tr><th scope="col">May</th>${COLUMNS.map((role) => html`<th scope="col" class="r">${role}</th>`)}</tr></thead>
      <tbody>${MATRIX.map(([what, cells]) => html`<tr key=${what}><th scope="row">${what}</th>${cells.map((cell) => html`<td class="r small dim"><${Cell} cell=${cell} /></td>`)}</tr>`)}</tbody>
    </table>
  <//>`;

/** @param {{cell: boolean | string}} props */
function Cell({ cell }) {
  if (cell === true) return html`<span class="ok"><${Icon} name="check" /><span class="sr">yes</span></span>`;
  if (cell === false) return html`<span class="faint"><span aria-hidden="true">–</span><span class="sr">no</span></span>`;
  return cell;
}
