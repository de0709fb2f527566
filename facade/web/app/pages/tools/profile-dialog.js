// Making a profile of one's own, or changing it. What it would cost is told while tools are chosen.
import { post, put } from '../../api.js';
import { html, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field, Segmented, TextInput } from '../../parts/field.js';
import { Refusal } from '../../parts/note.js';
import { useGet } from '../../use.js';
import { errorsByPointer } from '../../schema.js';
import { ToolChecks } from './tool-checks.js';

/** @param {{profile?: import('./profiles.js').Profile, onClose: () => void, onSaved: () => void}} props */
export function ProfileDialog({ profile, onClose, onSaved }) {
  const { data } = useGet('/api/tools');
  const [form, setForm] = useState(() => ({
    name: profile?.name ?? '', description: profile?.description ?? '', tools: new Set(profile?.tools ?? []),
    disclosure: profile?.disclosure ?? 'direct', tokenBudget: String(profile?.tokenBudget ?? ''), resultCap: String(profile?.resultCap ?? ''),
  }));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const set = (/** @type {Partial<typeof form>} */ change) => setForm((/** @type {typeof form} */ old) => ({ ...old, ...change }));
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await (profile ? put(`/api/profiles/${encodeURIComponent(profile.name)}`, bodyOf(form)) : post('/api/profiles', { name: form.name, ...bodyOf(form) }));
      onSaved();
      onClose();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const errors = errorsByPointer(problem?.violations ?? []);
  const atFields = ['/name', '/description', '/token_budget', '/result_cap'].some((pointer) => errors[pointer]);
  const foot = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="primary" type="submit" form="profile-form" busy=${busy}>${profile ? 'Save' : 'Make profile'}<//>`;
  return html`<${Dialog} open class="tall" title=${profile ? `Edit ${profile.name}` : 'New profile'} onClose=${onClose} foot=${foot}>
    <form id="profile-form" class="stack" novalidate onSubmit=${save}>
      ${problem && !atFields && html`<${Refusal} problem=${problem} />`}
      ${!profile && html`<${Text} label="Name" required help="A small letter, then letters, digits, _ and -; at most 40." mono value=${form.name} error=${errors['/name']} onChange=${(/** @type {string} */ name) => set({ name })} />`}
      <${Text} label="Description" help="What it is for, in one line." value=${form.description} error=${errors['/description']} onChange=${(/** @type {string} */ description) => set({ description })} />
      <${ToolChecks} tools=${data?.tools} chosen=${form.tools} onChange=${(/** @type {Set<string>} */ tools) => set({ tools })} />
      <div class="stack tight"><span class="legend">How its tools are told</span><div><${Segmented} label="Disclosure" value=${form.disclosure} onChange=${(/** @type {string} */ disclosure) => set({ disclosure })}
        options=${[{ value: 'direct', label: 'In the list' }, { value: 'search', label: 'Found by search' }]} /></div></div>
      <div class="form-grid">
        <${Text} label="Token budget" optional type="tokens" help="The most that its list may cost a model." mono value=${form.tokenBudget} error=${errors['/token_budget']} onChange=${(/** @type {string} */ tokenBudget) => set({ tokenBudget })} />
        <${Text} label="Result cap" optional type="tokens" help="The most of one result; the rest is fetched." mono value=${form.resultCap} error=${errors['/result_cap']} onChange=${(/** @type {string} */ resultCap) => set({ resultCap })} />
      </div>
    </form>
  <//>`;
}

/** @param {{value: string, onChange: (value: string) => void, mono?: boolean} & Record<string, any>} props */
const Text = ({ value, onChange, mono, ...field }) => html`<${Field} ...${field}>
  ${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`<${TextInput} id=${id} describedBy=${describedBy} mono=${mono} value=${value} invalid=${Boolean(field.error)} onChange=${onChange} />`}
<//>`;

/** @param {{description: string, tools: Set<string>, disclosure: string, tokenBudget: string, resultCap: string}} form */
function bodyOf({ description, tools, disclosure, tokenBudget, resultCap }) {
  return { description, tools: [...tools], disclosure, ...number('tokenBudget', tokenBudget), ...number('resultCap', resultCap) };
}

/** What is no number goes as it was typed, so that the gateway says what is wrong. @param {string} name @param {string} text */
function number(name, text) {
  const typed = text.trim();
  return typed === '' ? {} : { [name]: /^\d+$/.test(typed) ? Number(typed) : typed };
}
