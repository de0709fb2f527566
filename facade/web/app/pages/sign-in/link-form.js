// The code of a sign-in link, typed or pasted; the whole link does as well.
import { html, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Field, TextInput } from '../../parts/field.js';

/** @param {{onCode: (code: string) => Promise<void>, primary: boolean}} props */
export function LinkForm({ onCode, primary }) {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    await onCode(codeOf(text));
    setBusy(false);
  };
  const help = html`The first start prints a link with it; <code>toolgate sign-in</code> prints a new one. Each works once.`;
  return html`
    <form class="stack" onSubmit=${send}>
      <${Field} label="Sign-in link or code" help=${help}>
        ${(/** @type {string} */ id, /** @type {string} */ describedBy) => html`<${TextInput} id=${id} describedBy=${describedBy} type="password" mono value=${text} onChange=${setText} placeholder="tgl_…" required />`}
      <//>
      <${Button} type="submit" kind=${primary ? 'primary' : undefined} busy=${busy}>Sign in<//>
    </form>`;
}

/** @param {string} text */
const codeOf = (text) => /#code=([^&\s]+)/.exec(text)?.[1] ?? text.trim();
