// Light, dark, or as the system has it; kept in this browser.
import { signal } from './html.js';
import { keep, kept } from './use.js';

/** @typedef {'light' | 'auto' | 'dark'} Choice */

const dark = matchMedia('(prefers-color-scheme: dark)');

/** What was chosen. */
export const choice = signal(/** @type {Choice} */ (['light', 'dark'].includes(kept('toolgate.theme') ?? '') ? kept('toolgate.theme') : 'auto'));

/** What is seen: light or dark. */
export const theme = signal(seen());

function seen() {
  return choice.value === 'auto' ? (dark.matches ? 'dark' : 'light') : choice.value;
}

dark.addEventListener('change', () => { theme.value = seen(); });

/** @param {Choice} chosen */
export function setTheme(chosen) {
  choice.value = chosen;
  keep('toolgate.theme', chosen);
  if (chosen === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  theme.value = seen();
}
