// The code of a sign-in link, typed or pasted; the whole link does as well.
import { html, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Field, TextInput } from '../../parts/field.js';
import { codeIn } from './code.js';
import { notCode } from './failure.js';

/** @param {{onCode: (code: string) => Promise<void>, primary: boolean}} props */
export function LinkForm({ onCode, primary }) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState('');
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const read = codeIn(text);
    setWrong('not' in read ? read.not : '');
    if ('not' in read) return;
    setBusy(true);
    await onCode(read.code);
    setBusy(false);
  };
  const help = html`The first start prints a link with it; <code>toolgate sign-in</code> prints a new one. Each works once.`;
  return html`
    <form class="stack" novalidate onSubmit=${send}>
      <${Field} label="Sign-in link or code" help=${help} error=${wrong && notCode(wrong)}>
        ${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`<${TextInput} id=${id} describedBy=${describedBy} type="password" mono value=${text} invalid=${wrong !== ''} placeholder="tgl_…" aria-required="true"
          onChange=${(/** @type {string} */ typed) => { setText(typed); setWrong(''); }} />`}
      <//>
      <${Button} type="submit" kind=${primary ? 'primary' : undefined} busy=${busy}>Sign in<//>
    </form>`;
}
