// Views of one thing. They have no address, unlike the parts of a page (tabs.js).
import { html, useId, useState } from '../html.js';

/**
 * @param {{
 *   label: string,
 *   views: {id: string, label: string, count?: number, children: any}[]
 * }} props the first view is shown first
 */
export function Views({ label, views }) {
  const [current, onPick] = useState('');
  const prefix = useId();
  const now = views.find((view) => view.id === current) ?? views[0];
  if (!now) return null;
  const move = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step && views[(views.indexOf(now) + step + views.length) % views.length];
    if (!next) return;
    event.preventDefault();
    onPick(next.id);
    document.getElementById(`${prefix}-${next.id}`)?.focus();
  };
  return html`
    <div class="pad"><div class="tabs" role="tablist" aria-label=${label} onKeyDown=${move}>
      ${views.map((view) => html`<button key=${view.id} type="button" role="tab" id=${`${prefix}-${view.id}`}
        aria-selected=${String(view === now)} aria-controls=${`${prefix}-panel`} tabindex=${view === now ? 0 : -1}
        onClick=${() => onPick(view.id)}>${view.label}${view.count !== undefined && html`<span class="n">${view.count}</span>`}</button>`)}
    </div></div>
    <div role="tabpanel" id=${`${prefix}-panel`} aria-labelledby=${`${prefix}-${now.id}`}>${now.children}</div>`;
}
