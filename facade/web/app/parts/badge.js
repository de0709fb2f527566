// A state in a word, and as a shape: never in colour alone.
import { html } from '../html.js';
import { Icon } from './icon.js';

/** @param {{state?: 'ok' | 'warn' | 'bad' | 'live' | 'idle' | 'accent' | 'offline' | 'write', icon?: string, children?: any}} props */
export const Badge = ({ state = 'idle', icon, children }) => html`
  <span class=${state === 'idle' ? 'badge' : `badge ${state}`}>${icon && html`<${Icon} name=${icon} />`}${children}</span>`;

/** @param {{state: 'ok' | 'warn' | 'bad' | 'live' | 'idle' | 'off'}} props */
export const Dot = ({ state }) => html`<span class=${`dot ${state === 'idle' ? 'off' : state}`} aria-hidden="true"></span>`;

/** A dot with its word. @param {{state: 'ok' | 'warn' | 'bad' | 'live' | 'idle' | 'off', children?: any}} props */
export const State = ({ state, children }) => html`<span class="state"><${Dot} state=${state} /><span>${children}</span></span>`;
