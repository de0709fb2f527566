// Starts the pages: who is signed in, then the frame with the page that the address names.
import { html, render, signal } from './html.js';
import { onSignedOut, Problem } from './api.js';
import { forget, loadSession, me } from './session.js';
import { go, route } from './router.js';
import { kept } from './use.js';
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
  /** @type {Problem | null} */
  let problem = null;
  try {
    await loadSession();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) {
      forget();
      toSignIn();
    } else problem = /** @type {Problem} */ (error);
  }
  fault.value = problem;
  known.value = problem === null;
}

function App() {
  if (fault.value) return html`<main class="page alone" id="content"><h1 class="sr">Toolgate</h1><${Refusal} problem=${fault.value} onRetry=${begin} /></main>`;
  const alone = route.value.parts[0] === 'sign-in' || !me.value;
  return html`${alone ? html`<${PageRoom} />` : html`<${Frame}><${PageRoom} /><//>`}<${Toasts} />`;
}

preload(route.value.parts[0] ?? 'overview');
if (kept('toolgate.in') !== 'yes') preload('sign-in');
begin().then(() => {
  // Until now the outline of the frame has stood there, which the document brings along.
  const room = /** @type {HTMLElement} */ (document.getElementById('app'));
  room.replaceChildren();
  render(html`<${App} />`, room);
});
