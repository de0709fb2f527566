// The one door to the libraries: markup, hooks, signals. No page imports vendor/ itself.
import { h, render, Fragment } from '../vendor/preact.js';
import htm from '../vendor/htm.js';

/** Markup as a template: html`<p>${text}</p>`. Every value is a text node or an attribute, never markup. */
export const html = /** @type {(strings: TemplateStringsArray, ...values: any[]) => import('../vendor/preact.js').VNode<any>} */ (
  /** @type {unknown} */ (htm.bind(/** @type {any} */ (h)))
);
export { h, render, Fragment };
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useId, useErrorBoundary } from '../vendor/preact-hooks.js';
export { signal, computed, effect, batch, useSignal, useComputed } from '../vendor/signals.js';
