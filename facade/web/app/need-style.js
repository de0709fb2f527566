// Loads the style sheet of a page, once, when the page is first seen.

/** Adds `css/pages/NAME.css` to the document. @param {string} name */
export function needStyle(name) {
  const href = new URL(`../css/pages/${name}.css`, import.meta.url).href;
  if (document.querySelector(`link[href="${href}"]`)) return;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  document.head.append(link);
}
