// What a command printed on a host.
import { html } from '../../../html.js';
import { Code } from '../../../parts/code.js';
import { plain, took } from './figures.js';

/** @param {{value: any}} props the structured answer of ssh.run_whitelisted_command */
export function Printed({ value }) {
  const failed = value.exit_code !== 0;
  return html`<div class="card-body stack">
    <p class="row small"><code class="strong">${plain(value.command)}</code>
      <span class=${failed ? 'warn' : 'faint'}>exit code ${plain(value.exit_code)}</span>
      <span class="faint">${took(value.duration_ms ?? null)} on the host</span>
      ${value.truncated && html`<span class="warn">cut, because it was too long</span>`}</p>
    ${value.stdout ? html`<${Code} text=${value.stdout} label="Printed" />` : html`<p class="faint small">It printed nothing.</p>`}
    ${value.stderr && html`<${Code} text=${value.stderr} label="Standard error" />`}
  </div>`;
}
