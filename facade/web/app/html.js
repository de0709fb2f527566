// The one door to the libraries: markup, hooks, signals. No page imports vendor/ itself.
import { h, render, Fragment } from '../vendor/preact.js';
import htm from '../vendor/htm.js';
import { shown } from './visible.js';

/**
 * An element whose texts can be seen for what they are.
 * @param {any} type @param {any} props @param {any[]} children
 */
const element = (type, props, ...children) => h(type, props, ...children.map(shown));

/** Markup as a template: html`<p>${text}</p>`. Every value is a text node or an attribute, never markup. */
export const html = /** @type {(strings: TemplateStringsArray, ...values: any[]) => import('../vendor/preact.js').VNode<any>} */ (
  /** @type {unknown} */ (htm.bind(/** @type {any} */ (element)))
);
export { h, render, Fragment };
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useId, useErrorBoundary } from '../vendor/preact-hooks.js';
export { signal, computed, effect, batch, useSignal, useComputed } from '../vendor/signals.js';
