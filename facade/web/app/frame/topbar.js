// The tenant, search, theme, and who is signed in.
import { html } from '../html.js';
import { me } from '../session.js';
import { letters, setLetters } from '../use.js';
import { Icon } from '../parts/icon.js';
import { Menu } from '../parts/popover.js';
import { leave } from './leave.js';
import { ThemeSwitch } from './theme-switch.js';

/** @param {{onSearch: () => void, onKeys: () => void}} props */
export const Topbar = ({ onSearch, onKeys }) => html`
  <header class="topbar">
    <button class="btn quiet icon menu" type="button" popovertarget="nav" aria-label="Open navigation"><${Icon} name="menu" /></button>
    <p class="tenant" title=${me.value?.tenantId}><span class="sr">Tenant</span><svg class="tenant-chip" viewBox="0 0 18 18" aria-hidden="true"><rect width="18" height="18" rx="4"/><path d="M5.5 13 9 4.5 12.5 13M6.8 10h4.4"/></svg><span class="clip">${me.value?.tenantName || me.value?.tenantId}</span></p>
    <button class="palette" type="button" onClick=${onSearch} title="Search tools, targets and pages" aria-keyshortcuts="Control+K"><${Icon} name="search" small /><span>Search or run a tool</span><kbd>Ctrl K</kbd></button>
    <${ThemeSwitch} />
    <${Who} onKeys=${onKeys} />
  </header>`;

/** @param {{onKeys: () => void}} props */
function Who({ onKeys }) {
  const { principal = '', role = '', tenantId = '', tenantName } = me.value ?? {};
  const items = [
    { label: html`<span class="who-name"><b class="strong break">${principal}</b><span class="faint small">${role}</span>${tenantName && html`<span class="faint small">tenant <code class="break">${tenantId}</code></span>`}</span>`, disabled: true },
    { label: 'Sessions', icon: 'key', href: '/access/sessions' },
    { label: 'Keyboard', icon: 'info', onSelect: onKeys },
    { label: letters.value ? 'Switch off single letters' : 'Switch on single letters', icon: letters.value ? 'pause' : 'play', onSelect: () => setLetters(!letters.value) },
    { label: 'Sign out', icon: 'out', onSelect: leave },
  ];
  return html`<${Menu} label=${`${initials(principal)}, signed in as ${principal}`} class="who" items=${items}><span aria-hidden="true">${initials(principal)}</span><//>`;
}

/** @param {string} name */
const initials = (name) => {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const two = words.length > 1 ? [...(words[0] ?? '')][0] + ([...(words[1] ?? '')][0] ?? '') : [...(words[0] ?? '?')].slice(0, 2).join('');
  return two.toUpperCase();
};
