// Looking for something, and what is looked for.
import { html, useRef } from '../html.js';
import { useKeys } from '../use.js';
import { Icon } from './icon.js';

/**
 * The search of a page; `/` goes there, Escape empties it.
 * @param {{label: string, value: string, onChange: (value: string) => void, placeholder?: string, slash?: boolean} & Record<string, any>} props
 */
export function SearchInput({ label, value, onChange, placeholder, slash = true, ...rest }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useKeys(slash ? { '/': () => { field.current?.focus(); field.current?.select(); } } : {});
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    if (value) onChange('');
    else field.current?.blur();
  };
  return html`
    <div class="search"><${Icon} name="search" />
      <input class="input" type="search" ref=${field} aria-label=${label} placeholder=${placeholder ?? label} value=${value} autocomplete="off" spellcheck=${false}
        onInput=${(/** @type {any} */ event) => onChange(event.currentTarget.value)} onKeyDown=${escape} ...${rest} />
    </div>`;
}

/** @param {{chips: {key?: string, name?: any, label: any, onRemove: () => void}[]}} props */
export const Chips = ({ chips }) => html`${chips.map((chip, at) => html`
  <span class="chip" key=${chip.key ?? at}>${chip.name && html`${chip.name} `}<b>${chip.label}</b>
    <button class="btn quiet icon sm" type="button" aria-label=${`Remove filter ${chip.name ?? ''} ${textOf(chip.label)}`} onClick=${chip.onRemove}><${Icon} name="cross" small /></button>
  </span>`)}`;

/** @param {any} label */
const textOf = (label) => (typeof label === 'string' || typeof label === 'number' ? label : '');
