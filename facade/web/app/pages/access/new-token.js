// The form for a new token.
import { html, useEffect, useRef, useState } from '../../html.js';
import { curl, post } from '../../api.js';
import { useGet, useKeys } from '../../use.js';
import { errorsByPointer } from '../../schema.js';
import { Button } from '../../parts/button.js';
import { CopyButton } from '../../parts/code.js';
import { Field, Select, TextInput } from '../../parts/field.js';
import { Refusal } from '../../parts/note.js';
import { endOf, SPANS, USUAL } from './expiry.js';
import { ROLES } from './roles.js';
import { toolsTold } from '../tools/groups.js';

const BLANK = { name: '', role: 'agent', profile: '', days: USUAL, date: '' };

const CHOICES = [...SPANS.slice(0, -1), { value: 'date', label: 'on a day of your choice' }, ...SPANS.slice(-1)];

/** What is asked of the gateway. @param {typeof BLANK} form */
function asked({ name, role, profile, days, date }) {
  const end = days === 'date' ? date && { expiresAt: new Date(`${date}T23:59:59Z`).toISOString() } : endOf(days, Date.now());
  return { name: name.trim(), role, ...(profile && { profile }), ...(end || {}) };
}

/** @param {{onMade: (token: any) => void}} props */
export function NewToken({ onMade }) {
  const [form, setForm] = useState(BLANK);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [lacks, setLacks] = useState(/** @type {Record<string, string>} */ ({}));
  const room = useRef(/** @type {any} */ (null));
  const set = (/** @type {Partial<typeof BLANK>} */ part) => {
    setForm((old) => ({ ...old, ...part }));
    // What was wrong with the former values says nothing of the new ones.
    setProblem(null);
    setLacks({});
  };
  const send = async () => {
    if (busy) return;
    const lacking = missing(form);
    setLacks(lacking);
    if (Object.keys(lacking).length > 0) return;
    setBusy(true);
    setProblem(null);
    try {
      onMade(await post('/api/tokens', asked(form)));
      setForm({ ...BLANK, role: form.role, days: form.days });
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  useEffect(() => { if (Object.keys(lacks).length > 0) room.current?.querySelector('[aria-invalid="true"]')?.focus(); }, [lacks]);
  useKeys({ 'ctrl+Enter': (event) => (event.target instanceof Element && event.target.closest('#new-token') ? send() : false) });
  const errors = { ...fieldErrors(problem), ...lacks };
  const told = problem && !errors['/name'] && !errors['/profile'] && !errors['/expiresAt'] && !errors['/role'];
  return html`
    <form class="card" id="new-token" ref=${room} novalidate aria-labelledby="new-token-title" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); send(); }}>
      <div class="card-head"><h2 id="new-token-title">New token</h2></div>
      <div class="card-body stack">
        <${Field} label="Name" required error=${errors['/name']} help="Who asks; it stands on every row of the record.">${(/** @type {string} */ id, /** @type {string} */ by) => html`
          <${TextInput} id=${id} describedBy=${by} value=${form.name} onChange=${(/** @type {string} */ name) => set({ name })} placeholder="pod-triage" maxlength="64" invalid=${Boolean(errors['/name'])} aria-required="true" />`}<//>
        <${Field} label="Role" error=${errors['/role']} help=${ROLES.find((role) => role.id === form.role)?.lead}>${(/** @type {string} */ id, /** @type {string} */ by) => html`
          <${Select} id=${id} describedBy=${by} value=${form.role} onChange=${(/** @type {string} */ role) => set({ role })} options=${ROLES.map((role) => role.id)} />`}<//>
        <${Profile} value=${form.profile} error=${errors['/profile']} onChange=${(/** @type {string} */ profile) => set({ profile })} />
        <${Field} label="Expires" error=${form.days === 'date' ? undefined : errors['/expiresAt']}>${(/** @type {string} */ id, /** @type {string} */ by) => html`
          <${Select} id=${id} describedBy=${by} value=${form.days} onChange=${(/** @type {string} */ days) => set({ days })} options=${CHOICES} />`}<//>
        ${form.days === 'date' && html`<${Field} label="Last day, UTC" required error=${errors['/expiresAt']}>${(/** @type {string} */ id, /** @type {string} */ by) => html`
          <${TextInput} id=${id} describedBy=${by} type="date" min=${new Date().toISOString().slice(0, 10)} value=${form.date} onChange=${(/** @type {string} */ date) => set({ date })} aria-required="true" invalid=${Boolean(errors['/expiresAt'])} />`}<//>`}
        ${told && html`<${Refusal} problem=${problem} />`}
      </div>
      <div class="card-foot"><${Button} type="submit" kind="primary" busy=${busy}>Create token<//>
        <span class="push"></span><${CopyButton} text=${() => curl('POST', '/api/tokens', asked({ ...form, name: form.name || 'pod-triage' }))}>Copy as curl<//></div>
    </form>`;
}

/** What has to be given and is not, at its field. @param {typeof BLANK} form @returns {Record<string, string>} */
function missing({ name, days, date }) {
  return {
    ...(!name.trim() && { '/name': 'A token needs a name.' }),
    ...(days === 'date' && !date && { '/expiresAt': 'Choose the last day, or another time.' }),
  };
}

/** A refusal at the field it is about. A name that is taken is a conflict with nothing else. @param {any} problem @returns {Record<string, string>} */
function fieldErrors(problem) {
  if (!problem) return {};
  if (problem.reason === 'CONFLICT') return { '/name': problem.detail };
  return errorsByPointer(problem.violations);
}

/** @param {{value: string, error?: string, onChange: (name: string) => void}} props */
function Profile({ value, error, onChange }) {
  const { data } = useGet('/api/profiles');
  const known = (data?.profiles ?? []).map((/** @type {any} */ profile) => ({ value: profile.name, label: `${profile.name}, ${toolsTold(profile.tools)}` }));
  return html`
    <${Field} label="Pinned profile" optional error=${error} help="A pinned profile can be narrowed by a caller, never widened.">${(/** @type {string} */ id, /** @type {string} */ by) => html`
      <${Select} id=${id} describedBy=${by} value=${value} onChange=${onChange} options=${[{ value: '', label: 'none: all tools of its role' }, ...known]} />`}<//>`;
}
