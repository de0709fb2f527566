// A one-time link that signs in to these pages: as oneself in another browser, or, by admins, as the holder of a token.
import { html, useState } from '../../html.js';
import { post } from '../../api.js';
import { may, me } from '../../session.js';
import { useGet } from '../../use.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code } from '../../parts/code.js';
import { Field, Select } from '../../parts/field.js';
import { Note, Refusal } from '../../parts/note.js';
import { Ago } from '../../parts/time.js';
import { options } from './link-for.js';

export function SignInLink() {
  const { data } = useGet(may('change') ? '/api/tokens' : null, { query: { pageSize: 200 } });
  const [picked, setToken] = useState('');
  const [made, setMade] = useState(/** @type {{code: string, expiresAt: string, whom: string} | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const own = me.value?.method !== 'oidc';
  const choices = options(data?.tokens ?? [], Date.now(), own);
  const token = picked || (choices[0]?.value ?? '');
  const whom = data?.tokens.find((/** @type {{id: string}} */ each) => each.id === token)?.name ?? me.value?.principal ?? '';
  const make = async () => {
    setBusy(true);
    setProblem(null);
    setMade(null);
    try {
      setMade({ ...(await post('/api/sign-in/code', token ? { token } : {})), whom });
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  if (!choices.length) return null;
  return html`
    <${Card} title="Another browser">
      <p class="dim small">A link that signs in as ${whom}, once, within 15 minutes. A new one takes the place of an unused one.</p>
      ${(choices.length > 1 || !own) && html`
        <${Field} label="Whom it signs in" help="Its session ends when this token does.">${(/** @type {string} */ id, /** @type {string} */ by) => html`
          <${Select} id=${id} describedBy=${by} value=${token} onChange=${(/** @type {string} */ value) => { setToken(value); setMade(null); setProblem(null); }} options=${choices} />`}<//>`}
      ${made && html`<${Note} state="accent" icon="lock" title="Open it there now."><span>It signs in as ${made.whom} and ends <${Ago} at=${made.expiresAt} />.</span><${Code} text=${`${location.origin}/sign-in#code=${made.code}`} label="Sign-in link" /><//>`}
      ${problem && html`<${Refusal} problem=${problem} />`}
      <div><${Button} icon="link" busy=${busy} onClick=${make}>${made ? 'Make another link' : 'Make a sign-in link'}<//></div>
    <//>`;
}
