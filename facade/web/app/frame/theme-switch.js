// Light, dark, or as the system has it.
import { html } from '../html.js';
import { choice, setTheme } from '../theme.js';
import { Icon } from '../parts/icon.js';

/** @type {{id: import('../theme.js').Choice, icon: string, label: string}[]} */
const CHOICES = [
  { id: 'light', icon: 'sun', label: 'Light theme' },
  { id: 'auto', icon: 'screen', label: 'Follow the system' },
  { id: 'dark', icon: 'moon', label: 'Dark theme' },
];

export const ThemeSwitch = () => html`
  <div class="theme" role="group" aria-label="Theme">
    ${CHOICES.map(({ id, icon, label }) => html`
      <button key=${id} type="button" aria-pressed=${choice.value === id ? 'true' : 'false'} aria-label=${label} title=${label} onClick=${() => setTheme(id)}><${Icon} name=${icon} small /></button>`)}
  </div>`;
