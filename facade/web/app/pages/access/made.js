// A token just made, shown this once.
import { html, useEffect, useRef, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Code, CopyAs } from '../../parts/code.js';
import { Note } from '../../parts/note.js';
import { CLIENTS, endpoint } from '../overview/clients.js';

/** @param {{made: {id: string, name: string, token: string, profile?: string, role: string}, onDone: () => void}} props */
export function Made({ made, onDone }) {
  const [configured, setConfigured] = useState(false);
  const room = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => { room.current?.scrollIntoView({ block: 'nearest' }); room.current?.focus(); setConfigured(false); }, [made.id]);
  useEffect(() => {
    // A token that was not taken along is gone: whoever leaves the window is asked.
    const ask = (/** @type {BeforeUnloadEvent} */ event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return html`
    <div ref=${room} tabindex="-1" role="status">
      <${Note} state="accent" icon="lock" title=${`Copy the token of ${made.name} now.`} action=${html`
          <${Button} small onClick=${onDone}>I have copied it<//>
          ${made.role !== 'auditor' && html`<${Button} kind="quiet" small aria-expanded=${configured ? 'true' : 'false'} onClick=${() => setConfigured(!configured)}>Client configuration<//>`}`}>
        <span>It is stored only as a hash and cannot be shown again.</span>
        <${Code} text=${made.token} label="New token" />
        ${configured && html`<${Configuration} made=${made} />`}
      <//>
    </div>`;
}

/** @param {{made: {token: string}}} props */
function Configuration({ made }) {
  const given = { origin: location.origin, mcp: endpoint(location.origin, ''), token: made.token, profile: '' };
  const variants = CLIENTS.map((client) => ({ id: client.id, label: client.short, text: client.pieces(given)[0]?.text ?? '' }));
  return html`<${CopyAs} variants=${variants} label="Client" />`;
}
