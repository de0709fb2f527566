// The choice of what is added: one card per adapter type, the back ends of agents together.

import { html } from '../../html.js';
import { go } from '../../router.js';
import { Card } from '../../parts/card.js';
import { Icon } from '../../parts/icon.js';
import { Segmented } from '../../parts/field.js';
import { ORDER, kindOf } from './kinds.js';

/** @typedef {{type: string, title: string, description: string, nameSchema?: any, configSchema: any, credentialSchema: any, tools: string[], relay: boolean}} AdapterType */

const AGENTS = 'agent-';

/** @param {string} type */
const choose = (type) => go(`/adapters/new/${type}`, { replace: true, stay: true });

/** @param {AdapterType[]} types @returns {AdapterType[]} */
const inOrder = (types) => {
  const place = (/** @type {AdapterType} */ { type }) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length);
  return [...types].sort((a, b) => place(a) - place(b));
};

/** @param {{id: string, icon: string, title: string, text: string, on: boolean, onChoose: () => void}} props */
const TypeCard = ({ id, icon, title, text, on, onChoose }) => html`<label class="type-card">
  <input type="radio" name="type" value=${id} checked=${on} onChange=${onChoose} />
  <${Icon} name=${icon} /><b>${title}</b><span>${text}</span>
</label>`;

/** @param {{types: AdapterType[], current?: string}} props */
export function TypePicker({ types, current = '' }) {
  const sorted = inOrder(types);
  const agents = sorted.filter(({ type }) => type.startsWith(AGENTS));
  const cards = sorted.filter(({ type }) => !type.startsWith(AGENTS) || type === agents[0]?.type);
  return html`<${Card} title="What is it?">
    <fieldset>
      <legend class="sr">Adapter type</legend>
      <div class="types">
        ${cards.map(({ type, title }) => {
          const agent = type.startsWith(AGENTS);
          const kind = kindOf(type);
          return html`<${TypeCard} key=${type} id=${type} icon=${kind.icon} title=${agent ? 'Agent back end' : kind.title || title}
            text=${agent ? 'Memory, operator, chat' : kind.short} on=${agent ? current.startsWith(AGENTS) : type === current}
            onChoose=${() => choose(type)} />`;
        })}
      </div>
    </fieldset>
    ${current.startsWith(AGENTS) &&
    html`<${Segmented} label="Which back end" value=${current} onChange=${choose}
      options=${agents.map(({ type }) => ({ value: type, label: kindOf(type).title }))} />`}
  <//>`;
}
