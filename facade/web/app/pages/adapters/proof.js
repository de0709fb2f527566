// What the checks proved of a credential, what it can do beyond that, and what reading cannot tell.

import { html } from '../../html.js';
import { Card } from '../../parts/card.js';
import { Icon } from '../../parts/icon.js';

/** @typedef {import('./target.js').Validation} Validation */

/** @param {{title: string, icon: string, state: string, list: string[], note?: string}} props */
const Group = ({ title, icon, state, list, note }) => html`<li>
  <span class=${state}><${Icon} name=${icon} /></span>
  <div><b>${title}</b>
    <small class="break">${list.map((one, index) => html`${index ? ', ' : ''}<code>${one}</code>`)}</small>
    ${note && html`<small>${note}</small>`}
  </div>
</li>`;

/** @param {{validation?: Validation, title?: string}} props */
export function Proof({ validation, title = 'What the credential can do' }) {
  const { proven = [], wider = [], notProvable = [] } = validation ?? {};
  if (!proven.length && !wider.length && !notProvable.length) return null;
  return html`<${Card} title=${title}>
    <ul class="why">
      ${wider.length > 0 &&
      html`<${Group} title="More than it should" icon="refused" state="bad" list=${wider}
        note="It is not used until it is narrowed and tested, or replaced." />`}
      ${proven.length > 0 && html`<${Group} title="Proven" icon="seal" state="ok" list=${proven} />`}
      ${notProvable.length > 0 &&
      html`<${Group} title="Not provable by reading" icon="eye" state="warn" list=${notProvable}
        note="Accepted and on the record. See to it yourself that none of these was given." />`}
    </ul>
  <//>`;
}
