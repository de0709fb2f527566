// Fleet: all projects and relays, or one project, as the address says.

import { html } from '../html.js';
import { needStyle } from '../need-style.js';
import { All } from './fleet/all.js';
import { One } from './fleet/one.js';

await needStyle('fleet');

/** @param {{parts: string[]}} props the parts of the path, `fleet` first */
export default function Fleet({ parts: [, name] }) {
  return name ? html`<${One} key=${name} name=${name} />` : html`<${All} />`;
}
