// Starts the pages: who is signed in, then the frame with the page that the address names.
import { html, render, signal } from './html.js';
import { onSignedOut, Problem } from './api.js';
import { forget, loadSession, me } from './session.js';
import { go, route } from './router.js';
import { Frame } from './frame/frame.js';
import { PageRoom, preload } from './pages.js';
import { Toasts } from './parts/toast.js';
import { Refusal } from './parts/note.js';

/** Why nobody can tell who is signed in, such as a gateway that does not answer. */
const fault = signal(/** @type {Problem | null} */ (null));
/** Whether it is known who is signed in. */
const known = signal(false);

/** Sends whoever is signed out to the sign-in page, and back afterwards. */
function toSignIn() {
  if (route.value.parts[0] === 'sign-in') return;
  const next = location.pathname + location.search;
  go(next === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`, { replace: true });
}

onSignedOut(() => {
  if (!known.value) return;
  forget();
  toSignIn();
});

async function begin() {
  fault.value = null;
  try {
    await loadSession();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) toSignIn();
    else fault.value = /** @type {Problem} */ (error);
  }
  known.value = fault.value === null;
}

function App() {
  if (fault.value) return html`<main class="page alone" id="content"><h1 class="sr">Toolgate</h1><${Refusal} problem=${fault.value} onRetry=${begin} /></main>`;
  if (!known.value) return null;
  const alone = route.value.parts[0] === 'sign-in' || !me.value;
  return html`${alone ? html`<${PageRoom} />` : html`<${Frame}><${PageRoom} /><//>`}<${Toasts} />`;
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
preload(route.value.parts[0] ?? 'overview');
begin();
