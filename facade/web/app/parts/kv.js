// Names and values.
import { html } from '../html.js';

/** @param {{rows: [any, any][]}} props rows whose value is undefined, null or false are left out */
export const KeyValue = ({ rows }) => html`
  <dl class="kv">
    ${rows.filter(([, value]) => value !== undefined && value !== null && value !== false).map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}
  </dl>`;
