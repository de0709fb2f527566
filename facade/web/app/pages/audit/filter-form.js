// All filters as fields. What is chosen stands in the address at once; there is nothing to submit.

import { html, useState } from '../../html.js';
import { setQuery } from '../../router.js';
import { useKeys } from '../../use.js';
import { me } from '../../session.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Field, Segmented, Select } from '../../parts/field.js';
import { KINDS, RESULTS } from './events.js';
import { none, SPANS, toQuery } from './filters.js';

/** @typedef {import('./filters.js').Filters} Filters */

/** @param {{filters: Filters, targets: {id: string, name: string, type?: string}[], tools: string[], own: boolean, onDone: () => void}} props */
export function FilterForm({ filters, targets, tools, own, onDone }) {
  useKeys({ Escape: onDone });
  const set = (/** @type {Partial<Filters>} */ change) => setQuery(toQuery(/** @type {any} */ (change)), { push: true });
  const spans = [{ value: '', label: 'All' }, ...SPANS.map(([value, label]) => ({ value, label })), { value: 'range', label: 'Range' }];
  const [ranged, setRanged] = useState(!!(filters.since || filters.until));
  const span = ranged ? 'range' : filters.last;
  const choose = (/** @type {string} */ id) => {
    setRanged(id === 'range');
    if (id !== 'range') set({ last: id, since: '', until: '' });
  };
  return html`<${Card} title="Filter" actions=${html`<${Button} kind="quiet" small onClick=${() => set(none())}>Clear all<//><${Button} small onClick=${onDone}>Done<//>`}>
    <div class="form-grid">
      <div class="field full"><span class="legend" id="audit-span">Time</span>
        <div><${Segmented} label="Time" options=${spans} value=${span} onChange=${choose} /></div></div>
      ${ranged && html`<${Moment} label="From, UTC" value=${filters.since} onChange=${(/** @type {string} */ since) => set({ since, last: '' })} />
        <${Moment} label="Before, UTC" value=${filters.until} onChange=${(/** @type {string} */ until) => set({ until, last: '' })} />`}
      <${Named} label="Tool" value=${filters.tool} known=${tools} onChange=${(/** @type {string} */ tool) => set({ tool })} />
      <${Chosen} label="Target" value=${filters.targetId} options=${targets.map((t) => [t.id, t.type ? `${t.name} (${t.type})` : t.name])} onChange=${(/** @type {string} */ targetId) => set({ targetId })} />
      ${!own && html`<${Named} label="Principal" value=${filters.principal} known=${[me.value?.principal ?? '']} onChange=${(/** @type {string} */ principal) => set({ principal })} />`}
      <${Chosen} label="Result" value=${filters.result} options=${RESULTS.map((r) => [r, r])} onChange=${(/** @type {string} */ result) => set({ result })} />
      <${Chosen} label="Event" value=${filters.event} options=${KINDS.map((k) => [k, k])} onChange=${(/** @type {string} */ event) => set({ event })} />
      <${Named} label="Correlation id" value=${filters.correlationId} known=${[]} onChange=${(/** @type {string} */ id) => set({ correlationId: id.toUpperCase() })} />
    </div><//>`;
}

/** A text that counts when it is left or Enter is pressed. */
function Named(/** @type {{label: string, value: string, known: string[], onChange: (value: string) => void}} */ { label, value, known, onChange }) {
  const list = `audit-${label.toLowerCase().replace(/\W/g, '-')}`;
  return html`<${Field} label=${label}>${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`
    <input class="input mono" id=${id} aria-describedby=${describedBy} value=${value} list=${list} autocomplete="off" spellcheck=${false}
      onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.value.trim())} />
    <datalist id=${list}>${known.filter(Boolean).map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>`}<//>`;
}

function Chosen(/** @type {{label: string, value: string, options: string[][], onChange: (value: string) => void}} */ { label, value, options, onChange }) {
  const all = [{ value: '', label: 'Any' }, ...options.map(([id, text]) => ({ value: id, label: text }))];
  if (value && !all.some((o) => o.value === value)) all.push({ value, label: value });
  return html`<${Field} label=${label}>${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`
    <${Select} id=${id} describedBy=${describedBy} value=${value} options=${all} onChange=${onChange} />`}<//>`;
}

/** A moment in UTC. */
function Moment(/** @type {{label: string, value: string, onChange: (value: string) => void}} */ { label, value, onChange }) {
  const local = value ? value.slice(0, 16) : '';
  const told = (/** @type {any} */ event) => onChange(event.target.value ? `${event.target.value}:00Z` : '');
  return html`<${Field} label=${label}>${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`
    <input class="input" type="datetime-local" id=${id} aria-describedby=${describedBy || undefined} value=${local} onChange=${told} />`}<//>`;
}
