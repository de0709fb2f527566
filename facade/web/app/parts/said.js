// Text of the contract as it is written: names between backticks stand as code. Everything is a text node.
import { html } from '../html.js';

/** @param {{text: string}} props */
export const Said = ({ text }) => html`${text.split('`').map((part, at, parts) => (at % 2 === 1 && at < parts.length - 1
  ? html`<code>${part}</code>`
  : `${at % 2 === 1 ? '`' : ''}${part}`))}`;
