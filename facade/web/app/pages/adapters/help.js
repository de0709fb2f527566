// Beside the form: how to have a credential with the least rights, and what a refusal asks for.

import { html } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code } from '../../parts/code.js';
import { advice, fingerprintIn } from './advice.js';
import { failedAt } from './target.js';

/** @typedef {import('./target.js').Stage} Stage */

/** A certificate that nobody vouches for: shown to be compared, then trusted by one click. @param {{print: string, onTrust: (print: string) => void}} props */
function Certificate({ print, onTrust }) {
  return html`<p class="dim small">The server showed a certificate that this machine does not trust. Compare its SHA-256 fingerprint with the one the server itself shows:</p>
    <p class="hash">${print}</p>
    <${Button} icon="check" onClick=${() => onTrust(print)}>They are the same, use it<//>`;
}

/**
 * @param {{type: string, credential: Record<string, any>, schema?: any, stages?: Stage[], refused?: boolean, onTrust: (print: string) => void}} props
 */
export function Help({ type, credential, schema, stages = [], refused = false, onTrust }) {
  const failed = failedAt(stages);
  const print = failed?.name === 'tls' ? fingerprintIn(failed.reason) : undefined;
  const { text, steps, code } = advice(type, credential, schema);
  const again = refused && html`<p class="help">Then choose <b>Check and save</b> again. The refusal is in the audit record as <code>adapter.configuration_refused</code>.</p>`;
  return html`<${Card} title=${refused ? 'What to do' : 'What it needs'}>
      ${print
        ? html`<${Certificate} print=${print} onTrust=${onTrust} />`
        : html`<p class="dim small">${text}</p>
            ${steps && html`<ol class="numbered">${steps.map((step) => html`<li key=${step}>${step}</li>`)}</ol>`}
            ${code && html`<${Code} head=${code.label} label="Commands" text=${code.text} wrap />`}`}
      ${again}
  <//>`;
}
