// A label, a control, what helps and what is wrong, tied together for every reader.
import { html, useId, useState } from '../html.js';
import { Icon } from './icon.js';

/**
 * @param {{label: any, type?: string, help?: any, error?: any, required?: boolean, optional?: boolean, full?: boolean,
 *   id?: string, children: any}} props children: (id, describedBy) => the control
 */
export function Field({ label, type, help, error, required, optional, full, id: given, children }) {
  const own = useId();
  const id = given ?? own;
  const ids = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  const draw = Array.isArray(children) ? children.find((each) => typeof each === 'function') : children;
  return html`
    <div class=${full ? 'field full' : 'field'}>
      <label for=${id}>${label}${optional && html` <span class="opt">optional</span>`}${required && html`<span class="sr"> (required)</span>`}${type && html` <span class="type">${type}</span>`}</label>
      ${draw?.(id, ids)}
      ${help && html`<p class="help" id=${`${id}-help`}>${help}</p>`}
      ${error && html`<div class="error" id=${`${id}-error`} role="alert"><${Icon} name="warn" small /><div>${error}</div></div>`}
    </div>`;
}

/** @param {any} event */
const valueOf = (event) => event.currentTarget.value;

/**
 * @param {{id?: string, describedBy?: string, value?: string | number, onChange?: (value: string) => void, invalid?: boolean,
 *   mono?: boolean, lines?: number} & Record<string, any>} props lines: more than one makes a text area
 */
export function TextInput({ id, describedBy, value, onChange, invalid, mono, lines, class: more, ...rest }) {
  const shared = {
    id, class: ['input', mono && 'mono', more].filter(Boolean).join(' '), value: value ?? '', 'aria-describedby': describedBy,
    'aria-invalid': invalid ? 'true' : undefined, onInput: (/** @type {any} */ event) => onChange?.(valueOf(event)), ...rest,
  };
  return lines && lines > 1
    ? html`<textarea rows=${lines} spellcheck=${false} ...${shared}></textarea>`
    : html`<input type="text" autocomplete="off" spellcheck=${false} ...${shared} />`;
}

/**
 * A secret: masked, never filled back. Where one is kept, the field stands aside until it is to be replaced.
 * @param {{id?: string, describedBy?: string, value?: string, onChange?: (value: string | undefined) => void, invalid?: boolean,
 *   kept?: string | boolean, lines?: number} & Record<string, any>} props kept: what is told of the stored one; undefined in onChange = leave it
 */
export function SecretInput({ id, describedBy, value, onChange, invalid, kept, lines, ...rest }) {
  const [replacing, setReplacing] = useState(false);
  if (kept && !replacing) {
    return html`
      <div class="affix">
        <input class="input mono" id=${id} value=${kept === true ? 'stored' : kept} disabled aria-describedby=${describedBy} />
        <button class="btn" type="button" onClick=${() => { setReplacing(true); onChange?.(''); }}>Replace</button>
      </div>`;
  }
  const field = lines && lines > 1
    ? html`<${TextInput} ...${{ id, describedBy, value, invalid, onChange, lines, mono: true, autocomplete: 'off', class: 'masked', ...rest }} />`
    : html`<${TextInput} ...${{ id, describedBy, value, invalid, onChange, mono: true, type: 'password', autocomplete: 'new-password', ...rest }} />`;
  if (!kept) return field;
  return html`<div class="affix">${field}<button class="btn" type="button" onClick=${() => { setReplacing(false); onChange?.(undefined); }}>Keep</button></div>`;
}

/** @param {{id?: string, describedBy?: string, value?: string, onChange?: (value: string) => void, invalid?: boolean,
 *   options: (string | {value: string, label: any, disabled?: boolean})[]} & Record<string, any>} props */
export function Select({ id, describedBy, value, onChange, invalid, options, class: more, ...rest }) {
  return html`
    <select id=${id} class=${more ? `input ${more}` : 'input'} value=${value ?? ''} aria-describedby=${describedBy} aria-invalid=${invalid ? 'true' : undefined}
      onChange=${(/** @type {any} */ event) => onChange?.(valueOf(event))} ...${rest}>
      ${options.map((each) => {
        const option = typeof each === 'string' ? { value: each, label: each } : each;
        return html`<option key=${option.value} value=${option.value} disabled=${/** @type {any} */ (option).disabled} selected=${option.value === (value ?? '')}>${option.label}</option>`;
      })}
    </select>`;
}

/** @param {{checked: boolean, onChange?: (on: boolean) => void, label?: any, hideLabel?: boolean} & Record<string, any>} props */
export const Switch = ({ checked, onChange, label, hideLabel, ...rest }) => html`
  <label class="switch"><input type="checkbox" role="switch" checked=${checked} onChange=${(/** @type {any} */ event) => onChange?.(event.currentTarget.checked)} ...${rest} />${
    hideLabel ? html`<span class="sr">${label}</span>` : label}</label>`;

/** @param {{checked: boolean, onChange?: (on: boolean) => void, label?: any} & Record<string, any>} props */
export const Check = ({ checked, onChange, label, ...rest }) => html`
  <label class="check"><input type="checkbox" checked=${checked} onChange=${(/** @type {any} */ event) => onChange?.(event.currentTarget.checked)} ...${rest} /><span>${label}</span></label>`;

/** @param {{label: string, value: string, onChange: (value: string) => void, options: {value: string, label: any}[]}} props */
export const Segmented = ({ label, value, onChange, options }) => html`
  <div class="seg" role="group" aria-label=${label}>
    ${options.map((each) => html`<button key=${each.value} type="button" aria-pressed=${each.value === value ? 'true' : 'false'} onClick=${() => onChange(each.value)}>${each.label}</button>`)}
  </div>`;
