// How a tool stands for this tenant, where it is not simply there.
import { html } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Note } from '../../parts/note.js';
import { Said } from '../../parts/said.js';
import { may } from '../../session.js';

/** @param {{tool: import('./groups.js').Tool}} props */
export function Standing({ tool }) {
  if (tool.disabled) {
    return html`<${Note} title="Off for this tenant.">It is absent from every list and answers <code>TOOL_NOT_FOUND</code>, as if it did not exist.
      ${tool.state !== 'disabled' && ` ${tool.why}.`}<//>`;
  }
  if (tool.state === 'listed') return null;
  const add = tool.state === 'no_back_end' && may('change') && html`<${Button} small href="/adapters/new">Add a target<//>`;
  return html`<${Note} title="Not in anybody's list." action=${add}><${Said} text=${`${tool.why}.`} /><//>`;
}
