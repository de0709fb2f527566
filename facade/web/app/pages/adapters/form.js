// Name, settings and credential of a target, by the schemas of its type. Knows no request.

import { html, useEffect, useRef, useState } from '../../html.js';
import { Field, TextInput } from '../../parts/field.js';
import { SchemaForm } from '../../parts/schema-form.js';
import { Credential } from './credential.js';
import { below } from './refusal.js';
import { filled, part, withReasons } from './values.js';

/** @typedef {import('./values.js').Values} Values */

/** What most people need only where the machine is private or its certificate is its own. */
const SELDOM = ['caCertificate', 'fingerprints', 'allowPrivate', 'allowLoopback', 'allowHttp', 'url', 'sshPort', 'hostPath', 'adopted', 'tokenUrl', 'issuer', 'scope', 'statusTool', 'timeoutSeconds'];

/** @param {{schema: any, value: any, onChange: (value: any) => void, errors: Record<string, string>, idPrefix: string}} props */
function Seldom({ schema, ...rest }) {
  const names = Object.keys(schema.properties);
  const wrong = Object.keys(rest.errors).some((pointer) => names.includes(pointer.split('/')[1] ?? ''));
  const set = names.some((name) => name in filled(rest.value) && typeof rest.value[name] !== 'boolean' && rest.value[name] !== schema.properties[name].default);
  const [open, setOpen] = useState(set);
  useEffect(() => { if (wrong || set) setOpen(true); }, [wrong, set]);
  if (!names.length) return null;
  return html`<details class="more" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>More settings</summary>
    <${SchemaForm} schema=${schema} ...${rest} />
  </details>`;
}

/**
 * @param {{type: {nameSchema?: any, configSchema: any, credentialSchema: any}, values: Values, onChange: (values: Values) => void,
 *   errors: Record<string, string>, kept?: boolean, nameHelp?: string, nameFixed?: boolean}} props
 *   `kept`: there is a credential already, and what is left empty stays
 */
export function TargetForm({ type, values, onChange, errors, kept = false, nameHelp, nameFixed = false }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    // What is wrong is where the person goes on.
    const wrong = Object.keys(errors).length ? box.current?.querySelector('[aria-invalid="true"]') : null;
    if (wrong instanceof HTMLElement) wrong.focus();
  }, [errors]);
  const required = type.configSchema.required ?? [];
  const seldom = (/** @type {string} */ name) => SELDOM.includes(name) && !required.includes(name);
  const config = {
    value: values.config,
    onChange: (/** @type {any} */ config) => onChange({ ...values, config }),
    errors: below(errors, 'config'),
    idPrefix: 'config',
  };
  const secrets = Object.keys(type.credentialSchema?.properties ?? {}).length > 0;
  return html`<div class="stack" ref=${box}>
    <div class="form-grid">
      <${Field} id="target-name" label="Name" type="string" help=${nameHelp ?? type.nameSchema?.description ?? 'How agents and the audit record call it.'} error=${errors['/name']} required>
        ${(/** @type {string} */ id, /** @type {string} */ describedBy) =>
          html`<${TextInput} id=${id} describedBy=${describedBy} invalid=${!!errors['/name']} value=${values.name} required
            disabled=${nameFixed} maxlength=${type.nameSchema?.maxLength ?? 64} placeholder=${type.nameSchema?.examples?.[0]} onChange=${(/** @type {string} */ name) => onChange({ ...values, name })} />`}
      <//>
    </div>
    <${SchemaForm} schema=${part(type.configSchema, (name) => !seldom(name))} ...${config} />
    ${secrets &&
    html`<${Credential} schema=${type.credentialSchema} value=${values.credential} kept=${kept} errors=${below(errors, 'credential')}
      onChange=${(/** @type {any} */ credential) => onChange({ ...values, credential })} />`}
    <${Seldom} schema=${part(withReasons(type.configSchema), seldom)} ...${config} />
  </div>`;
}
