// A one-time link that signs in as oneself, for another browser.
import { html, useState } from '../../html.js';
import { post } from '../../api.js';
import { me } from '../../session.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code } from '../../parts/code.js';
import { Note, Refusal } from '../../parts/note.js';
import { Ago } from '../../parts/time.js';

export function SignInLink() {
  const [made, setMade] = useState(/** @type {{code: string, expiresAt: string} | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const make = async () => {
    setBusy(true);
    setProblem(null);
    try {
      setMade(await post('/api/sign-in/code'));
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  return html`
    <${Card} title="Another browser">
      <p class="dim small">A link that signs in as ${me.value?.principal}, once, within 15 minutes. A new one takes the place of an unused one.</p>
      ${made && html`<${Note} state="accent" icon="lock" title="Open it there now."><span>It ends <${Ago} at=${made.expiresAt} />.</span><${Code} text=${`${location.origin}/sign-in#code=${made.code}`} label="Sign-in link" /><//>`}
      ${problem && html`<${Refusal} problem=${problem} />`}
      <div><${Button} icon="link" busy=${busy} onClick=${make}>${made ? 'Make another link' : 'Make a sign-in link'}<//></div>
    <//>`;
}
