// Adding a target: its type, its form, and the checks that decide.

import { html, useEffect, useState } from '../../html.js';
import { Problem, curl, post } from '../../api.js';
import { go, Link } from '../../router.js';
import { useGet, useKeys } from '../../use.js';
import { may } from '../../session.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { CopyButton } from '../../parts/code.js';
import { Empty } from '../../parts/empty.js';
import { Icon } from '../../parts/icon.js';
import { Refusal } from '../../parts/note.js';
import { Page } from '../../parts/page.js';
import { Skeleton } from '../../parts/skeleton.js';
import { blank } from '../../schema.js';
import { added } from './added.js';
import { Checks } from './checks.js';
import { keep } from './enrolments.js';
import { TargetForm } from './form.js';
import { Help } from './help.js';
import { Incomplete, NotSaved } from './not-saved.js';
import { errorsOf, marked, validationOf } from './refusal.js';
import { TypePicker } from './type-picker.js';
import { filled, missing } from './values.js';

/** @typedef {import('./type-picker.js').AdapterType} AdapterType */
/** @typedef {import('./values.js').Values} Values */

/** @param {AdapterType} type @returns {Values} */
const empty = (type) => ({ name: '', config: blank(type.configSchema), credential: {} });

/** What is sent for these values. @param {AdapterType} type @param {Values} values */
const body = ({ type, credentialSchema }, { name, config, credential }) => ({
  type,
  name,
  config: filled(config),
  ...(Object.keys(credentialSchema?.properties ?? {}).length && { credential: filled(credential) }),
});

/** The same with secrets left out, to be shown and copied. @param {AdapterType} type @param {Values} values */
function bodyShown(type, values) {
  const sent = body(type, values);
  const masked = Object.entries(sent.credential ?? {}).map(([name, value]) => [name, type.credentialSchema.properties[name]?.writeOnly ? '…' : value]);
  return sent.credential ? { ...sent, credential: Object.fromEntries(masked) } : sent;
}

/** @param {{type: AdapterType}} props */
function Form({ type }) {
  const [values, setValues] = useState(() => empty(type));
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [errors, setErrors] = useState(/** @type {Record<string, string>} */ ({}));
  const [since, setSince] = useState(/** @type {number | undefined} */ (undefined));

  const submit = async () => {
    if (since !== undefined) return;
    const empties = missing(type, values);
    setProblem(undefined);
    setErrors(empties);
    if (Object.keys(empties).length) return;
    setSince(Date.now());
    try {
      const target = await post('/api/mcp/adapter', body(type, values));
      if (target.enrolment) {
        keep(target.id, target.enrolment);
      } else {
        added.value = target.id;
      }
      go(`/adapters/${target.id}`, { replace: true });
    } catch (refused) {
      if (!(refused instanceof Problem)) throw refused;
      setProblem(refused);
      setErrors(errorsOf(refused, type.type));
    } finally {
      setSince(undefined);
    }
  };
  useKeys({ 'ctrl+Enter': submit });

  const stages = problem && validationOf(problem)?.stages;
  const mend = (/** @type {import('./remedy.js').Change} */ change) => {
    setValues({ ...values, config: change(values.config) });
    setErrors({});
  };
  return html`<form onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); submit(); }} noValidate>
    <${Card} title=${type.title} note=${type.description}
      foot=${html`<${Button} kind="primary" type="submit" busy=${since !== undefined}>${type.relay ? 'Add and get the start line' : 'Check and save'}<//>
        <${Button} kind="quiet" href="/adapters">Cancel<//>
        <${CopyButton} small=${false} text=${() => curl('POST', '/api/mcp/adapter', bodyShown(type, values))}>Copy as curl<//>
        ${!type.relay && html`<span class="push only-wide">Nothing is stored unless every check passes.</span>`}`}>
        ${problem ? html`<${NotSaved} problem=${problem} marked=${marked(errors, type)} />` : Object.keys(errors).length > 0 && html`<${Incomplete} />`}
        <${TargetForm} type=${type} values=${values} onChange=${setValues} errors=${errors} />
    <//>
    <aside class="stack" aria-label="Checks">
      ${!type.relay && html`<${Checks} type=${type.type} stages=${stages} runningSince=${since} />`}
      <${Help} type=${type.type} credential=${values.credential} schema=${type.credentialSchema} stages=${stages} refused=${!!stages?.length} onFix=${mend} />
    </aside>
  </form>`;
}

/** @param {{current?: string}} props */
export function Add({ current }) {
  const { data, error, reload } = useGet('/api/mcp/adapter-types');
  /** @type {AdapterType[] | undefined} */
  const types = data?.types;
  const type = types?.find((one) => one.type === current);
  useEffect(() => {
    if (types?.[0] && current && !type) go('/adapters/new', { replace: true });
  }, [types, current]);
  const crumb = html`<${Link} href="/adapters">Adapters<//><${Icon} name="right" small /><span>Add</span>`;
  return html`<${Page} title="Add adapter" crumb=${crumb} lead="Its credential is checked for what it can do, then it is live. The checks take at most five seconds.">
    ${!may('change')
      ? html`<${Card} flush><${Empty} icon="lock" title="Only an admin adds adapters" text="Ask an admin of this tenant; what is there you can see."><${Button} href="/adapters">Adapters<//><//><//>`
      : html`${error && html`<${Refusal} problem=${error} onRetry=${reload} />`}
          ${!types && !error && html`<${Skeleton} lines=${8} />`}
          ${types && html`<div class="adding"><${TypePicker} types=${types} current=${current} />${type && html`<${Form} key=${type.type} type=${type} />`}</div>`}`}
  <//>`;
}
