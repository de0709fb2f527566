// A form drawn from a JSON Schema. Everything it says comes from the schema; nothing is judged here but numbers.
import { html, useId, useRef } from '../html.js';
import { fieldsOf, valueOf, textOf, withMember, isLong } from '../schema.js';
import { sentence } from '../refusals.js';
import { Said } from './said.js';
import { Field, TextInput, SecretInput, Select, Switch } from './field.js';

export { blank, errorsByPointer } from '../schema.js';

/**
 * @param {{schema: any, value: Record<string, any>, onChange: (value: Record<string, any>) => void, errors?: Record<string, any>, idPrefix?: string,
 *   secretsKept?: boolean | Record<string, string>, only?: (field: import('../schema.js').FormField) => boolean, children?: any}} props
 *   errors: by JSON Pointer from this schema's root; secretsKept: a secret is stored (by key: what is told of it)
 */
export function SchemaForm({ schema, value, onChange, errors = {}, idPrefix, secretsKept, only, children }) {
  const own = useId();
  const fields = fieldsOf(schema).filter((field) => field.kind !== 'const' && (!only || only(field)));
  return html`
    <div class="form-grid">
      ${fields.map((field) => html`
        <${SchemaField} key=${field.key} field=${field} value=${value?.[field.key]} errors=${errors} idPrefix=${idPrefix ?? own} secretsKept=${secretsKept}
          onChange=${(/** @type {any} */ member) => onChange(withMember(value, field.key, member))} />`)}
      ${children}
    </div>`;
}

/** @typedef {import('../schema.js').FormField} FormField */

/** @param {{field: FormField, value: any, errors: Record<string, any>, idPrefix: string, secretsKept?: boolean | Record<string, string>, onChange: (value: any) => void}} props */
function SchemaField({ field, value, errors, idPrefix, secretsKept, onChange }) {
  const error = errors[field.pointer];
  if (field.kind === 'object') return html`<${Group} ...${{ field, value, errors, idPrefix, secretsKept, onChange }} />`;
  if (field.kind === 'switch') {
    return html`<div class="field full"><${Switch} checked=${value ?? false} label=${field.title} onChange=${onChange} />${field.help && html`<p class="help"><${Said} text=${sentence(field.help)} /></p>`}${error && html`<div class="error" role="alert">${error}</div>`}</div>`;
  }
  return html`
    <${Field} label=${field.title} type=${field.type} help=${helpOf(field)} error=${error} required=${field.required} optional=${!field.required} id=${idPrefix + field.pointer.replaceAll('/', '-')} full=${isWide(field)}>
      ${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`<${Control} ...${{ id, describedBy, field, value, invalid: Boolean(error), secretsKept, onChange }} />`}
    <//>`;
}

/** Examples of so many characters fill a line of their own. */
const LONG = 48;

/** @param {FormField} field */
const isWide = (field) => ['long', 'json'].includes(field.kind) || (field.kind === 'secret' && isLong(field.schema)) || (field.kind === 'list' && field.example.length > LONG);

/** @param {FormField} field */
function helpOf(field) {
  const example = field.kind !== 'secret' && field.example && !field.help.includes(field.example) ? html` For example <code>${field.example}</code>.` : '';
  const list = field.kind === 'list' ? ' One a line.' : '';
  return field.help || example || list ? html`<${Said} text=${sentence(field.help)} />${list}${example}` : undefined;
}

/** @param {{id: string, describedBy: string, field: FormField, value: any, invalid: boolean, secretsKept?: boolean | Record<string, string>, onChange: (value: any) => void}} props */
function Control({ id, describedBy, field, value, invalid, secretsKept, onChange }) {
  // What is typed is shown as typed, also while it is no whole value yet.
  const typed = useRef({ text: textOf(field, value), value });
  if (typed.current.value !== value) typed.current = { text: textOf(field, value), value };
  const type = (/** @type {string} */ text) => {
    typed.current = { text, value: valueOf(field, text) };
    onChange(typed.current.value);
  };
  const shared = { id, describedBy, invalid, 'aria-required': field.required ? 'true' : undefined, value: typed.current.text, onChange: type };
  if (field.kind === 'secret') {
    const kept = typeof secretsKept === 'object' ? secretsKept[field.key] : secretsKept;
    return html`<${SecretInput} ...${shared} kept=${kept} lines=${isLong(field.schema) ? 4 : 1} placeholder=${kept ? undefined : field.example}
      onChange=${(/** @type {string | undefined} */ text) => onChange(text === '' && !kept ? undefined : text)} value=${value ?? ''} />`;
  }
  if (field.kind === 'select') {
    const options = field.options.map((each) => ({ value: String(each.value), label: each.label }));
    return html`<${Select} ...${shared} options=${field.required && value !== undefined ? options : [{ value: '', label: field.required ? 'Choose' : unset(field) }, ...options]} />`;
  }
  const lines = field.kind === 'list' ? 3 : field.kind === 'long' || field.kind === 'json' ? 5 : 1;
  const number = field.kind === 'integer' || field.kind === 'number';
  return html`<${TextInput} ...${shared} lines=${lines} mono=${field.kind !== 'text' || Boolean(field.schema.pattern)} inputmode=${number ? 'decimal' : undefined} placeholder=${lines === 1 ? field.example || (field.initial === undefined ? undefined : unset(field)) : undefined} maxlength=${field.maxLength} />`;
}

/** What holds while nothing is given. @param {FormField} field */
const unset = (field) => (field.initial === undefined ? 'not set' : `${field.initial} if left out`);

/** @param {{field: FormField, value: any, errors: Record<string, any>, idPrefix: string, secretsKept?: boolean | Record<string, string>, onChange: (value: any) => void}} props */
function Group({ field, value, errors, idPrefix, secretsKept, onChange }) {
  return html`
    <fieldset class="full stack tight">
      <legend class="legend">${field.title}${!field.required && html` <span class="opt">optional</span>`}</legend>
      ${field.help && html`<p class="help"><${Said} text=${sentence(field.help)} /></p>`}
      <div class="form-grid">${field.fields.map((each) => html`
        <${SchemaField} key=${each.key} field=${each} value=${value?.[each.key]} errors=${errors} idPrefix=${idPrefix} secretsKept=${secretsKept}
          onChange=${(/** @type {any} */ member) => onChange(withMember(value, each.key, member))} />`)}</div>
    </fieldset>`;
}
