// Loads the style sheet of a page, once, when the page is first seen.

/**
 * Adds `css/pages/NAME.css` to the document. A page that awaits this is drawn in its own style at once, so nothing of it
 * moves; a sheet that does not come costs the page its looks and nothing else.
 * @param {string} name @returns {Promise<void>}
 */
export function needStyle(name) {
  const href = new URL(`../css/pages/${name}.css`, import.meta.url).href;
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve();
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  const known = new Promise((/** @type {(value: void) => void} */ resolve) => {
    link.onload = link.onerror = () => resolve();
  });
  document.head.append(link);
  return known;
}
