// Where we are, as the address says it, and how to go elsewhere. Knows no page.
import { html, signal } from './html.js';
import { read, changed } from './address.js';

const here = () => read(location.pathname + location.search);

/** The address in parts. */
export const route = signal(here());

/** Whether the last step stayed within what is looked at: then focus and place of the page are left alone. */
export let still = false;

addEventListener('popstate', () => { still = false; route.value = here(); });

/** @type {(() => boolean) | null} */
let guard = null;

/** Asks before a page is left with work undone; null takes the question back. @param {(() => boolean) | null} fn true = may leave */
export const setGuard = (fn) => { guard = fn; };

/**
 * Goes to an address of these pages.
 * @param {string} url @param {{replace?: boolean, stay?: boolean}} [options] stay: what opens stands beside what is looked at
 */
export function go(url, { replace = false, stay = false } = {}) {
  const to = new URL(url, location.href);
  if (to.origin !== location.origin) return;
  if (to.pathname !== location.pathname && guard && !guard()) return;
  const same = to.href === location.href;
  history[replace || same ? 'replaceState' : 'pushState'](null, '', to);
  still = stay;
  route.value = here();
}

/** Changes parts of the query and stays on the page; null takes one out. @param {Record<string, string | null>} changes @param {{push?: boolean}} [options] */
export function setQuery(changes, { push = false } = {}) {
  go(changed(location.pathname + location.search, changes), { replace: !push });
}

/** @param {MouseEvent} event */
function follow(event) {
  const link = /** @type {HTMLAnchorElement} */ (event.currentTarget);
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!plain || event.defaultPrevented || link.target) return;
  event.preventDefault();
  go(link.href, { stay: link.dataset.stay !== undefined });
}

/** A link within these pages; with `data-stay` it opens beside what is looked at. @param {any} props */
export const Link = ({ children, onClick, ...rest }) => html`
  <a ...${rest} onClick=${(/** @type {MouseEvent} */ event) => { onClick?.(event); follow(event); }}>${children}</a>`;
