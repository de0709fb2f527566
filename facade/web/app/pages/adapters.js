// Adapters: all targets, one of them, or a new one, as the address says.

import { html } from '../html.js';
import { needStyle } from '../need-style.js';
import { Add } from './adapters/add.js';
import { Detail } from './adapters/detail.js';
import { List } from './adapters/list.js';

await needStyle('adapters');

/** @param {{parts: string[]}} props the parts of the path, `adapters` first */
export default function Adapters({ parts: [, what, type] }) {
  if (!what) return html`<${List} />`;
  return what === 'new' ? html`<${Add} current=${type} />` : html`<${Detail} id=${what} />`;
}
