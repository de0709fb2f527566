// What is filtered, seen at a glance: a search that says how it reads what is typed, chips to take away, the live tail.

import { html, useEffect, useRef, useState } from '../../html.js';
import { setQuery } from '../../router.js';
import { useKeys } from '../../use.js';
import { Button } from '../../parts/button.js';
import { Chips } from '../../parts/filters.js';
import { Switch } from '../../parts/field.js';
import { Icon } from '../../parts/icon.js';
import { FilterForm } from './filter-form.js';
import { FIELDS, spanWords } from './filters.js';
import { guess } from './guess.js';

/** @typedef {import('./filters.js').Filters} Filters */

/**
 * @param {{filters: Filters, targets: {id: string, name: string}[], tools: string[], own: boolean,
 *   tail: {on: boolean, able: boolean, set: (on: boolean) => void}}} props
 */
export function FilterBar({ filters, targets, tools, own, tail }) {
  const [form, setForm] = useState(false);
  return html`<div class="filters">
      <${Search} targets=${targets} tools=${tools} />
      <${Chips} chips=${chipsOf(filters, targets)} />
      <${Button} icon="plus" aria-expanded=${String(form)} aria-controls="audit-filter" onClick=${() => setForm(!form)}>Filter<//>
      ${tail.able && html`<${Switch} label="Live tail" checked=${tail.on} onChange=${tail.set} />`}
    </div>
    <div id="audit-filter" hidden=${!form}>${form && html`<${FilterForm} filters=${filters} targets=${targets} tools=${tools} own=${own} onDone=${() => setForm(false)} />`}</div>`;
}

function Search(/** @type {{targets: {id: string, name: string}[], tools: string[]}} */ { targets, tools }) {
  const [typed, setTyped] = useState('');
  const field = useRef(/** @type {HTMLInputElement|null} */ (null));
  useKeys({ '/': () => field.current?.focus() });
  const found = guess(typed, targets, tools);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!found) return;
    setQuery({ [found.key]: found.value }, { push: true });
    setTyped('');
  };
  return html`<form class="search" role="search" onSubmit=${submit}>
    <${Icon} name="search" />
    <input class="input" type="search" ref=${field} value=${typed} aria-label="Filter the record by tool, target, principal, result, event or correlation id"
      aria-describedby="audit-guess" placeholder="tool, target, principal or correlation id" autocomplete="off" spellcheck=${false} list="audit-known"
      onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} />
    <datalist id="audit-known">${[...tools, ...targets.map((t) => t.name)].map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
    <span class="guess" id="audit-guess" aria-live="polite">${found && html`<kbd>Enter</kbd> only ${found.words}`}</span>
  </form>`;
}


function chipsOf(/** @type {Filters} */ filters, /** @type {{id: string, name: string}[]} */ targets) {
  const chips = FIELDS.filter(([key]) => filters[key]).map(([key, word]) => {
    const target = key === 'targetId' ? targets.find((t) => t.id === filters.targetId)?.name : undefined;
    return chip(word, target ?? filters[key], { [key]: null });
  });
  const time = timeWords(filters);
  if (time) chips.unshift(chip('Time', time, { last: null, since: null, until: null }));
  return chips;
}

/** @returns {{key: string, name: string, label: string, onRemove: () => void}} */
const chip = (/** @type {string} */ word, /** @type {string} */ value, /** @type {Record<string, null>} */ gone) => ({
  key: word,
  name: word,
  label: value,
  onRemove: () => setQuery(gone, { push: true }),
});

/** The time of a filter in words; empty for all time. */
export function timeWords(/** @type {Filters} */ { last, since, until }) {
  if (last) return `last ${spanWords(last)}`;
  const short = (/** @type {string} */ time) => time.replace('T', ' ').replace(/:00(\.0+)?Z$|Z$/, '');
  if (since && until) return `${short(since)} to ${short(until)}`;
  if (since) return `since ${short(since)}`;
  return until ? `before ${short(until)}` : '';
}
