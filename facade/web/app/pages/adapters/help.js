// Beside the form: how to have a credential with the least rights, and what a refusal asks for.

import { html, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code } from '../../parts/code.js';
import { advice } from './advice.js';
import { remedy } from './remedy.js';
import { failedAt } from './target.js';

/** @typedef {import('./target.js').Stage} Stage */
/** @typedef {import('./remedy.js').Change} Change */

/** What is not about the credential: why, and the click that mends it. @param {{found: import('./remedy.js').Remedy, onFix?: (change: Change) => void}} props */
function Remedy({ found: { text, shown, fix }, onFix }) {
  const [put, setPut] = useState('');
  const press = (/** @type {NonNullable<typeof fix>} */ { label, change }) => {
    onFix?.(change);
    setPut(label);
  };
  return html`<p class="dim small">${text}</p>
    ${shown && html`<p class="hash">${shown}</p>`}
    ${fix && onFix && html`<${Button} icon="check" onClick=${() => press(fix)}>${fix.label}<//>`}
    ${fix && onFix && html`<p class="help" role="status">${put === fix.label ? 'It is in the form now, under More settings.' : ''}</p>`}`;
}

/** @param {{type: string, credential: Record<string, any>, schema: any}} props */
function Advice({ type, credential, schema }) {
  const { text, steps, code } = advice(type, credential, schema);
  return html`<p class="dim small">${text}</p>
    ${steps && html`<ol class="numbered">${steps.map((step) => html`<li key=${step}>${step}</li>`)}</ol>`}
    ${code && html`<${Code} head=${code.label} label="Commands" text=${code.text} wrap />`}`;
}

/**
 * @param {{type: string, credential: Record<string, any>, schema?: any, stages?: Stage[], refused?: boolean, onFix?: (change: Change) => void}} props
 */
export function Help({ type, credential, schema, stages = [], refused = false, onFix }) {
  const found = remedy(failedAt(stages));
  const again = refused && html`<p class="help">Then choose <b>Check and save</b> again. The refusal is in the audit record as <code>adapter.configuration_refused</code>.</p>`;
  return html`<${Card} title=${refused || found ? 'What to do' : 'What it needs'}>
      ${found ? html`<${Remedy} found=${found} onFix=${onFix} />` : html`<${Advice} type=${type} credential=${credential} schema=${schema} />`}
      ${again}
  <//>`;
}
