// Signing in: with a provider, or with the link that the first start prints.
import { html, useEffect, useState } from '../html.js';
import { get } from '../api.js';
import { me, signInWith, signOut } from '../session.js';
import { go } from '../router.js';
import { safeNext } from '../address.js';
import { useTitle } from '../use.js';
import { Mark } from '../parts/icon.js';
import { ThemeSwitch } from '../frame/theme-switch.js';
import { Gate } from './sign-in/gate.js';
import { LinkForm } from './sign-in/link-form.js';
import { Failure } from './sign-in/failure.js';
import { Instead } from './sign-in/instead.js';
import { codeIn } from './sign-in/code.js';

/** @param {{query: URLSearchParams}} props */
export default function SignIn({ query }) {
  useTitle('Sign in');
  const next = safeNext(query.get('next'));
  const [options, setOptions] = useState(/** @type {any} */ (undefined));
  const [failure, setFailure] = useState(/** @type {any} */ (query.get('error')));
  const [code, setCode] = useState(takeCode);
  // Whoever is signed in may have been sent here by somebody who wants them to be somebody else.
  const [asking, setAsking] = useState(Boolean(code && me.value));
  useEffect(() => { get('/api/sign-in/options').then(setOptions, () => setOptions({ link: true })); }, []);
  const enter = async (/** @type {string} */ given) => {
    setFailure(null);
    try {
      const read = codeIn(given);
      if ('not' in read) throw read.not;
      await signInWith(read.code);
      go(next, { replace: true });
    } catch (error) {
      setFailure(error);
      setCode('');
    }
  };
  const change = async () => {
    setAsking(false);
    try {
      await signOut();
    } catch (error) {
      setFailure(error);
      setCode('');
      return;
    }
    await enter(code);
  };
  useEffect(() => { if (code && !asking) enter(code); }, []);
  useEffect(() => {
    // A link that is opened where this page already is changes what follows # and loads nothing.
    const opened = () => {
      const fresh = takeCode();
      if (!fresh) return;
      setCode(fresh);
      setAsking(Boolean(me.value));
      if (!me.value) enter(fresh);
    };
    addEventListener('hashchange', opened);
    return () => removeEventListener('hashchange', opened);
  }, [next]);
  useEffect(() => { if (me.value && !code && !failure) go(next, { replace: true }); }, [me.value]);
  // Nothing is drawn before it is known what to offer, so that nothing moves.
  if (!options && !code) return null;
  return html`
    <div class="signin">
      <main id="content">
        <p class="brand"><${Mark} /><span>Toolgate</span></p>
        <div class="card"><div class="card-body stack">
          ${asking && me.value ? html`<${Instead} who=${me.value} onChange=${change} onStay=${() => go('/', { replace: true })} />`
            : code ? html`<h1>Signing in</h1><p class="dim" role="status">The link is being checked.</p>`
            : html`<${Failure} failure=${failure} /><${Ways} options=${options} next=${next} failed=${Boolean(failure)} onCode=${enter} />`}
        </div></div>
        <${Gate} /><p class="small faint center">Reads pass and are recorded. Writes stop here.</p>
      </main>
      <footer><${ThemeSwitch} /></footer>
    </div>`;
}

/** The code of the link; it is taken out of the address at once, so that it stays in no history. */
function takeCode() {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? '';
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

/** @param {{options: any, next: string, failed: boolean, onCode: (code: string) => Promise<void>}} props */
function Ways({ options, next, failed, onCode }) {
  const provider = options?.oidc;
  const [byLink, setByLink] = useState(false);
  const shown = !provider || byLink || failed;
  return html`
    ${!failed && html`<h1>Sign in</h1>`}
    ${provider && html`<a class="btn primary" href=${`${provider.url}?next=${encodeURIComponent(next)}`}>Continue with ${provider.name}</a>`}
    ${provider && html`<div class="or">or</div>`}
    ${shown ? html`<${LinkForm} onCode=${onCode} primary=${!provider} />` : html`<button class="btn" type="button" onClick=${() => setByLink(true)}>Use a sign-in link</button>`}`;
}
