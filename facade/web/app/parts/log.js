// What happened, in order, with the time each thing took to happen.
import { html } from '../html.js';
import { Icon } from './icon.js';

/** @type {Record<string, string>} */
const ICONS = { ok: 'check', bad: 'warn', now: 'right', live: 'right', data: 'link', sent: 'out', wait: 'clock' };

/** @param {{events: {t: any, kind: string, text: any, detail?: any, note?: any, id?: string}[], label?: string, live?: boolean}} props
 *   kind: ok, bad, now, or one of the pictograms */
export const EventLog = ({ events, label = 'Events', live = true }) => html`
  <ol class="log" aria-label=${label} aria-live=${live ? 'polite' : undefined}>
    ${events.map((each, at) => html`
      <li key=${each.id ?? at} class=${each.kind}>
        <span class="t">${each.t}</span><${Icon} name=${ICONS[each.kind] ?? each.kind} small />
        <span class="m">${each.text}${each.detail && html` <span>${each.detail}</span>`}</span>
        <span class="x">${each.note}</span>
      </li>`)}
  </ol>`;
