// Characters that change how others are read, or cannot be seen: they are shown by their number, so that a text from
// elsewhere looks like what it is. Those that letters are joined by (U+200C, U+200D) stay.

const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * A text as it may be drawn.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}}`);
}

/**
 * What stands within an element: texts are made visible, everything else is left alone.
 * @param {any} child
 * @returns {any}
 */
export function shown(child) {
  if (typeof child === 'string') return visible(child);
  return Array.isArray(child) ? child.map(shown) : child;
}
