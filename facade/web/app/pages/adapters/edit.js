// The form of a target that is there: its settings as they are, its credential only where it is replaced.

import { html, useState } from '../../html.js';
import { Problem, curl, patch } from '../../api.js';
import { useKeys } from '../../use.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { CopyButton } from '../../parts/code.js';
import { toast } from '../../parts/toast.js';
import { pathOf } from './change.js';
import { TargetForm } from './form.js';
import { kindOf } from './kinds.js';
import { Incomplete, NotSaved } from './not-saved.js';
import { errorsOf, marked, validationOf } from './refusal.js';
import { forget } from './tests.js';
import { difference, filled, missing } from './values.js';

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./target.js').Stage} Stage */

/**
 * @param {{target: Target, type: import('./type-picker.js').AdapterType, onSaved: (target: Target) => void, mends: {current: (change: import('./remedy.js').Change) => void},
 *   onStages: (stages?: Stage[], runningSince?: number) => void}} props
 */
export function Edit({ target, type, mends, onSaved, onStages }) {
  const fresh = () => ({ name: target.name, config: target.config, credential: {} });
  const [values, setValues] = useState(fresh);
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [errors, setErrors] = useState(/** @type {Record<string, string>} */ ({}));
  const [busy, setBusy] = useState(false);
  const [round, setRound] = useState(0);
  const change = difference(target, values);
  const changed = Object.keys(change).length > 0;
  const checked = 'config' in change || 'credential' in change;

  const save = async () => {
    if (!changed || busy) return;
    const empties = missing(type, values, true);
    setProblem(undefined);
    setErrors(empties);
    if (Object.keys(empties).length) return;
    setBusy(true);
    onStages([], checked && !type.relay ? Date.now() : undefined);
    try {
      const saved = await patch(pathOf(target.id), change);
      forget(target.id);
      setValues({ name: saved.name, config: saved.config, credential: {} });
      setRound(round + 1);
      onStages(undefined);
      toast({ state: 'ok', title: `${saved.name} is saved`, text: checked ? 'Calls use what is new from now on.' : '' });
      onSaved(saved);
    } catch (refused) {
      if (!(refused instanceof Problem)) throw refused;
      setProblem(refused);
      setErrors(errorsOf(refused, target.type));
      onStages(validationOf(refused)?.stages);
    } finally {
      setBusy(false);
    }
  };
  useKeys({ 'ctrl+Enter': save });
  mends.current = (mend) => {
    setValues({ ...values, config: mend(values.config) });
    setErrors({});
  };

  const masked = 'credential' in change ? { ...change, credential: '…' } : change;
  return html`<form onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); save(); }} noValidate>
    <${Card} title="Settings" note=${type.relay ? 'Labels for people, and what its tools may do.' : 'Checked before they are stored; until then calls use the former ones.'}
      foot=${html`<${Button} kind="primary" type="submit" busy=${busy} disabled=${!changed}>${checked && !type.relay ? 'Check and save' : 'Save'}<//>
        ${changed && html`<${Button} kind="quiet" onClick=${() => { setValues(fresh()); setErrors({}); setProblem(undefined); setRound(round + 1); }}>Undo changes<//>`}
        <${CopyButton} small=${false} text=${() => curl('PATCH', pathOf(target.id), masked)}>Copy as curl<//>`}>
        ${problem
          ? html`<${NotSaved} problem=${problem} marked=${marked(errors, type, Object.keys(filled(values.credential)).length > 0)} />`
          : Object.keys(errors).length > 0 && html`<${Incomplete} />`}
        <${TargetForm} key=${round} type=${type} values=${values} onChange=${setValues} errors=${errors} kept
          nameFixed=${target.type === 'project'} nameHelp=${target.type === 'project' ? `A ${kindOf('project').title.toLowerCase()} keeps its name; calls name it.` : undefined} />
    <//>
  </form>`;
}
