// What is to be known, and why something was refused: what happened, why, what to do next.
import { html } from '../html.js';
import { Icon } from './icon.js';
import { Button } from './button.js';
import { nextStep } from '../refusals.js';

/** @type {Record<string, string>} */
const ICONS = { ok: 'check', warn: 'warn', bad: 'refused', accent: 'info', idle: 'info' };

/** @param {{state?: 'ok' | 'warn' | 'bad' | 'accent' | 'idle', title?: any, icon?: string, children?: any, action?: any}} props */
export const Note = ({ state = 'idle', title, icon, children, action }) => html`
  <div class=${state === 'idle' ? 'note' : `note ${state}`} role=${state === 'bad' || state === 'warn' ? 'alert' : undefined}>
    <${Icon} name=${icon ?? ICONS[state]} />
    <div><div class="note-text">${title && html`<b>${title}</b> `}${children}</div>${action && html`<div class="row">${action}</div>`}</div>
  </div>`;

/** @param {{problem: any, title?: string, onRetry?: () => void, children?: any}} props problem: a Problem or any error */
export function Refusal({ problem, title, onRetry, children }) {
  const step = nextStep(problem);
  const violations = problem?.violations ?? [];
  return html`
    <${Note} state=${step.state} title=${title ?? step.what} icon=${step.icon} action=${onRetry && html`<${Button} small icon="reload" onClick=${onRetry}>Try again<//>`}>
      <span>${step.why}</span>
      ${violations.length > 0 && html`<ul class="violations">${violations.map((/** @type {any} */ each) => html`<li>${each.pointer && html`<code>${each.pointer}</code> `}${each.message}</li>`)}</ul>`}
      ${step.next && html`<span class="next"> ${step.next}</span>`}
      ${children}
      <span class="reason"> <code>${problem?.reason ?? 'INTERNAL'}</code></span>
    <//>`;
}
