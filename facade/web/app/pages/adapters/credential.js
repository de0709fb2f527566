// The credential of a target: the way it is given, and its fields. What is stored is never filled back.

import { html, useEffect, useRef, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Segmented } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { SchemaForm } from '../../parts/schema-form.js';
import { part, ways } from './values.js';

/** The way that fits what was typed, else the first. @param {import('./values.js').Way[]} all @param {Record<string, any>} value */
const fitting = (all, value) => all.find(({ names }) => Object.keys(value).some((name) => value[name] && names.includes(name))) ?? all[0];

/**
 * @param {{schema: any, value: Record<string, any>, onChange: (value: Record<string, any>) => void, errors: Record<string, string>, kept: boolean}} props
 *   kept: one is stored, and stays unless it is replaced
 */
export function Credential({ schema, value, onChange, errors, kept }) {
  const choices = ways(schema);
  const [chosen, setChosen] = useState(() => fitting(choices, value)?.title ?? '');
  const [replacing, setReplacing] = useState(false);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  // The button that was pressed is gone.
  useEffect(() => { if (replacing) box.current?.querySelector('input')?.focus(); }, [replacing]);
  if (kept && !replacing) {
    return html`<div class="row">
      <span class="help"><${Icon} name="lock" small /><span>A credential is stored. It is never shown again.</span></span>
      <${Button} small icon="key" onClick=${() => setReplacing(true)}>Replace credential<//>
    </div>`;
  }
  const way = choices.find(({ title }) => title === chosen);
  const shown = way ? { ...part(schema, (name) => way.names.includes(name)), required: way.required, oneOf: undefined } : schema;
  const choose = (/** @type {string} */ title) => {
    setChosen(title);
    onChange({});
  };
  return html`<fieldset class="stack" ref=${box}>
    <legend class="legend">${kept ? 'New credential' : 'Credential'}</legend>
    <div class="row">
      ${choices.length > 1 &&
      html`<${Segmented} label="How the credential is given" value=${chosen} onChange=${choose}
        options=${choices.map(({ title }) => ({ value: title, label: title }))} />`}
      ${kept && html`<${Button} kind="quiet" small onClick=${() => { setReplacing(false); onChange({}); }}>Keep the stored one<//>`}
    </div>
    <${SchemaForm} key=${chosen} schema=${shown} value=${value} errors=${errors} idPrefix="credential" onChange=${onChange} />
    <p class="help"><${Icon} name="lock" small /><span>${kept ? 'Leave it empty to keep the stored one. ' : ''}Encrypted at rest, never shown again, never in a log or an error.</span></p>
  </fieldset>`;
}
