// A call under way: what has happened so far, and how much of its time is used.
import { html, useEffect } from '../../html.js';
import { Button } from '../../parts/button.js';
import { useNow } from '../../use.js';
import { ResultBar } from './bar.js';
import { Lines } from './lines.js';

/** How long calls of infrastructure and of agents' back ends may take; projects say it themselves. */
const DEADLINE = 10_000;

/** @param {{call: import('./state.js').Call, onCancel: () => void}} props */
export function Running({ call, onCancel }) {
  useNow(100);
  // What will show the answer is fetched meanwhile.
  useEffect(() => { import('./answered.js').catch(() => {}); }, []);
  const gone = performance.now() - call.began;
  const bound = deadlineOf(call);
  return html`<section class="card answer" aria-label="Result" aria-busy="true">
    <${ResultBar} call=${call}>
      <span class="num strong">${(gone / 1000).toFixed(1)} s</span>${bound && html`<span class="faint small">of ${bound / 1000} s</span>`}
      <${Button} kind="danger" small icon="cross" disabled=${call.phase === 'cancelling'} onClick=${onCancel}>${call.phase === 'cancelling' ? 'Cancelling' : 'Cancel'}<//>
    <//>
    ${bound && html`<progress value=${Math.min(gone, bound)} max=${bound} aria-label=${`Time used of the ${bound / 1000} s deadline`}></progress>`}
    <${Lines} call=${call} waiting />
    <div class="card-foot"><span>Cancel leaves the stream, which closes the upstream request. A read that released nothing leaves no audit row.</span></div>
  </section>`;
}

/** @param {import('./state.js').Call} call */
function deadlineOf(call) {
  return /^(proxmox|ssh|github|gitea|agent-)/.test(call.tool.adapterType) ? DEADLINE : null;
}
