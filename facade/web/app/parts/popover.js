// A short list of things to do, opened by a button.
import { html, useId, useRef } from '../html.js';
import { Link } from '../router.js';
import { Icon } from './icon.js';
import { Button } from './button.js';

/** @typedef {{label: any, icon?: string, href?: string, onSelect?: () => void, danger?: boolean, disabled?: boolean}} Item */

/** @param {{label: any, items: (Item | null | false | undefined)[], icon?: string, small?: boolean, kind?: 'quiet' | 'primary', bare?: boolean, class?: string, children?: any}} props
 *   bare: only the pictogram is seen; children: seen in place of the label */
export function Menu({ label, items, icon, small = true, kind = 'quiet', bare, class: more, children }) {
  const id = useId();
  const list = useRef(/** @type {any} */ (null));
  const close = () => list.current?.hidePopover();
  const move = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...list.current.querySelectorAll('a, button:not([disabled])')];
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length]?.focus();
  };
  const opened = (/** @type {any} */ event) => { if (event.newState === 'open') list.current.querySelector('a, button:not([disabled])')?.focus(); };
  const shown = children ?? (bare ? undefined : html`${label}<${Icon} name="down" small />`);
  return html`
    <${Button} kind=${kind} small=${small} icon=${icon ?? (bare ? 'more' : undefined)} aria-label=${bare || children ? label : undefined} class=${more} popovertarget=${id}>${shown}<//>
    <div class="pop" id=${id} popover ref=${list} role="group" aria-label=${label} onToggle=${opened} onKeyDown=${move}>
      ${items.map((item) => item && (item.href
        ? html`<${Link} href=${item.href} onClick=${close}>${item.icon && html`<${Icon} name=${item.icon} small />`}${item.label}<//>`
        : html`<button type="button" class=${item.danger ? 'bad' : undefined} disabled=${item.disabled} onClick=${() => { close(); item.onSelect?.(); }}>${item.icon && html`<${Icon} name=${item.icon} small />`}${item.label}</button>`))}
    </div>`;
}
