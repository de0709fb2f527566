// Every key that does something.
import { html } from '../html.js';
import { letters, setLetters } from '../use.js';
import { Dialog } from '../parts/dialog.js';
import { Button } from '../parts/button.js';
import { Switch } from '../parts/field.js';

/** @type {[string, string][]} */
const KEYS = [
  ['Ctrl K', 'search tools, targets and pages'],
  ['/', 'search on the page'],
  ['J  K', 'next and previous row of a table'],
  ['Enter', 'open the row'],
  ['Ctrl Enter', 'send the form'],
  ['Esc', 'close the topmost thing'],
  ['?', 'this list'],
];

/** @param {{onClose: () => void}} props */
export const KeysHelp = ({ onClose }) => html`
  <${Dialog} open title="Keyboard" onClose=${onClose} foot=${html`<${Button} onClick=${onClose}>Close<//>`}>
    <dl class="kv keys">${KEYS.map(([key, what]) => html`<dt>${key.split('  ').map((each) => html`<kbd>${each}</kbd> `)}</dt><dd>${what}</dd>`)}</dl>
    <${Switch} checked=${letters.value} onChange=${setLetters} label="Single letters are commands" />
  <//>`;
