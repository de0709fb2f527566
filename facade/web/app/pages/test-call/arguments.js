// The arguments of the chosen tool: fields from its schema or raw JSON, the target where there is a choice, and the
// button that calls.
import { html } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Field, Select, Switch, TextInput } from '../../parts/field.js';
import { Menu } from '../../parts/popover.js';
import { Said } from '../../parts/said.js';
import { SchemaForm } from '../../parts/schema-form.js';
import { toast } from '../../parts/toast.js';
import { COMMAND_TOOL, Commands } from './commands.js';
import { argumentsOf, toggled, withoutTarget } from './form.js';
import { variants } from './copy.js';

/**
 * @param {{
 *   tool: import('./picker.js').Tool, draft: import('./form.js').Draft, errors: Record<string, string>, targetError: string,
 *   busy: boolean, onDraft: (draft: import('./form.js').Draft) => void
 * }} props
 */
export function Arguments({ tool, draft, errors, targetError, busy, onDraft }) {
  const { args, error } = argumentsOf(draft);
  const raw = draft.raw !== null;
  const schema = withoutTarget(tool.inputSchema);
  const toggle = html`<${Switch} label="Raw JSON" checked=${raw} disabled=${tool.unlisted || (raw && error !== null)}
    onChange=${(/** @type {boolean} */ on) => onDraft(toggled(draft, on))} />`;
  const foot = html`
    <${Button} kind="primary" icon="play" type="submit" disabled=${busy || error !== null}>Call<//>
    <span class="row tight"><kbd>Ctrl</kbd><kbd>Enter</kbd></span>
    <span class="push"><${CopyMenu} tool=${tool} args=${args} target=${draft.target} /></span>`;
  return html`<${Card} title="Arguments" actions=${html`<span class="small">${toggle}</span>`} foot=${foot}>
    ${tool.description && html`<p class="help"><${Said} text=${tool.description} /></p>`}
    ${tool.targets.length > 1 && html`<${TargetField} tool=${tool} value=${draft.target} error=${targetError}
      onChange=${(/** @type {string} */ target) => onDraft({ ...draft, target })} />`}
    ${tool.name === COMMAND_TOOL && !raw && html`<${Commands} onCommand=${(/** @type {string} */ command) => onDraft({ ...draft, value: { ...draft.value, command } })} />`}
    ${raw
      ? html`<${RawField} draft=${draft} error=${error ?? Object.entries(errors).map(([at, text]) => `${at} ${text}`).join('; ')} onDraft=${onDraft} />`
      : html`<${SchemaForm} schema=${schema} value=${draft.value} errors=${errors} idPrefix="a"
        onChange=${(/** @type {any} */ value) => onDraft({ ...draft, value })} />`}
    ${!raw && !Object.keys(schema.properties).length && html`<p class="help">It takes no arguments.</p>`}
  <//>`;
}

/** @param {{tool: import('./picker.js').Tool, value: string, error: string, onChange: (id: string) => void}} props */
function TargetField({ tool, value, error, onChange }) {
  const options = [{ value: '', label: 'Choose a target' }, ...tool.targets.map(({ id, name }) => ({ value: id, label: name }))];
  return html`<${Field} label=${html`Target <span class="opt">${tool.targets.length} of this kind</span>`} error=${error} id="a-target">
    ${(/** @type {string} */ id, /** @type {string} */ described) => html`<${Select} id=${id} describedBy=${described} value=${value}
      invalid=${error !== ''} options=${options} onChange=${onChange} />`}
  <//>`;
}

/** @param {{draft: import('./form.js').Draft, error: string, onDraft: (draft: import('./form.js').Draft) => void}} props */
function RawField({ draft, error, onDraft }) {
  return html`<${Field} label="Arguments as JSON" type="object" error=${error} id="a-raw">
    ${(/** @type {string} */ id, /** @type {string} */ described) => html`<${TextInput} id=${id} describedBy=${described} mono lines=${10}
      value=${draft.raw} invalid=${error !== ''} onChange=${(/** @type {string} */ raw) => onDraft({ ...draft, raw })} />`}
  <//>`;
}

/** @param {{tool: import('./picker.js').Tool, args: any, target: string}} props */
export function CopyMenu({ tool, args, target }) {
  if (!args) return null;
  const asked = { name: tool.name, functionName: tool.functionName, args, target };
  const items = variants(asked).map(({ label, text }) => ({ label, onSelect: () => copied(label, text) }));
  return html`<${Menu} label="Copy as" items=${items} />`;
}

/** @param {string} label @param {string} text */
async function copied(label, text) {
  try {
    await navigator.clipboard.writeText(text);
    toast({ state: 'ok', title: `Copied as ${label}`, text: `Set TOOLGATE_TOKEN to a token${label === 'grpcurl' ? ', and TOOLGATE_GRPC where gRPC is not on port 7601' : ''}, then paste it into a shell.` });
  } catch {
    toast({ state: 'bad', title: 'The browser gives no clipboard', text });
  }
}
