// Which targets are shown: by text, health and kind; kept in the address of the page.

import { html } from '../../html.js';
import { route, setQuery } from '../../router.js';
import { Select } from '../../parts/field.js';
import { SearchInput } from '../../parts/filters.js';
import { GROUPS, address, health, newest } from './target.js';
import { ORDER, kindOf } from './kinds.js';
import { tested } from './tests.js';

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./target.js').Relay} Relay */

/** @param {{name: string, label: string, options: {value: string, label: string}[]}} props */
const Pick = ({ name, label, options }) => html`<${Select} class="sel" aria-label=${label} value=${route.value.query.get(name) ?? ''}
  onChange=${(/** @type {string} */ value) => setQuery({ [name]: value || null })} options=${[{ value: '', label: `${label}: any` }, ...options]} />`;

/** @param {{targets: Target[]}} props */
export function Filter({ targets }) {
  const kinds = ORDER.filter((type) => targets.some((target) => target.type === type));
  return html`<div class="filters" role="search" aria-label="Filter targets">
    <${SearchInput} label="Filter by name, kind or address" value=${route.value.query.get('q') ?? ''}
      onChange=${(/** @type {string} */ text) => setQuery({ q: text || null })} />
    <${Pick} name="health" label="Health" options=${GROUPS.map((group) => ({ value: group, label: group }))} />
    <${Pick} name="kind" label="Kind" options=${kinds.map((type) => ({ value: type, label: kindOf(type).title }))} />
  </div>`;
}

/**
 * The targets that the address of the page asks for.
 * @param {Target[]} targets @param {Map<string, Relay>} relays @returns {Target[]}
 */
export function shown(targets, relays) {
  const { query } = route.value;
  const [text, group, kind] = [query.get('q')?.toLowerCase() ?? '', query.get('health'), query.get('kind')];
  return targets.filter((target) => {
    const words = `${target.name} ${target.type} ${kindOf(target.type).title} ${address(target)}`.toLowerCase();
    return (
      words.includes(text) &&
      (!kind || target.type === kind) &&
      (!group || health(target, relays.get(target.id), newest(target, tested.value[target.id])).group === group)
    );
  });
}
