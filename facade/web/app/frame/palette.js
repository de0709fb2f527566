// Search over pages, tools and targets; Enter goes there.
import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { go } from '../router.js';
import { may } from '../session.js';
import { useGet } from '../use.js';
import { Icon } from '../parts/icon.js';
import { setTheme } from '../theme.js';
import { leave } from './leave.js';
import { groups } from './places.js';
import { ranked } from './ranked.js';

const MOST = 8;

/** @typedef {{kind: string, label: string, note?: string, icon: string, href?: string, run?: () => void, mono?: boolean}} Hit */

/** @param {{onClose: () => void, onKeys: () => void}} props */
export function Palette({ onClose, onKeys }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [asked, setAsked] = useState('');
  const [at, setAt] = useState(0);
  const all = useEverything(onKeys);
  const hits = useMemo(() => found(all, asked), [all, asked]);
  useEffect(() => box.current?.showModal(), []);
  const open = (/** @type {Hit | undefined} */ hit) => {
    if (!hit) return;
    onClose();
    if (hit.href) go(hit.href);
    else hit.run?.();
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length) setAt((at + step + hits.length) % hits.length);
    else if (event.key === 'Enter') open(hits[at]);
    else return;
    event.preventDefault();
  };
  return html`
    <dialog class="dialog palette-dialog" ref=${box} aria-label="Search" onClose=${onClose} onMouseDown=${(/** @type {any} */ event) => { if (event.target === box.current) onClose(); }}>
      <div class="search"><${Icon} name="search" />
        <input class="input" role="combobox" aria-expanded="true" aria-controls="palette-hits" aria-activedescendant=${hits.length ? `hit-${at}` : undefined} aria-autocomplete="list"
          aria-label="Search pages, tools and targets" placeholder="Search pages, tools and targets" autocomplete="off" spellcheck=${false} autofocus value=${asked}
          onInput=${(/** @type {any} */ event) => { setAsked(event.currentTarget.value); setAt(0); }} onKeyDown=${keys} />
      </div>
      <ul class="cmdk" id="palette-hits" role="listbox" aria-label="Found">
        ${hits.map((hit, index) => html`
          ${hits[index - 1]?.kind !== hit.kind && html`<li class="nav-label" role="presentation">${hit.kind}</li>`}
          <li key=${hit.kind + hit.label} id=${`hit-${index}`} role="option" aria-selected=${index === at ? 'true' : 'false'} class=${index === at ? 'on' : undefined}
            onClick=${() => open(hit)} onPointerMove=${() => setAt(index)}>
            <span><${Icon} name=${hit.icon} small />${hit.mono ? html`<code>${hit.label}</code>` : hit.label}</span>${index === at ? html`<kbd>Enter</kbd>` : html`<span class="faint small clip">${hit.note}</span>`}
          </li>`)}
      </ul>
      <p class=${hits.length ? 'sr' : 'help pad'} role="status">${hits.length ? `${hits.length} found` : `Nothing has “${asked}” in its name.`}</p>
    </dialog>`;
}

/** All there is to find. @param {() => void} onKeys @returns {Hit[]} */
function useEverything(onKeys) {
  const tools = useGet(may('call') ? '/api/mcp/tools' : null);
  const targets = useGet('/api/mcp/adapter');
  return useMemo(() => [
    ...groups().flatMap((group) => group.places).map((place) => ({ kind: 'Pages', label: place.label, note: place.hint, icon: place.icon, href: place.href })),
    ...(tools.data?.tools ?? []).map((/** @type {any} */ tool) => ({ kind: 'Tools', label: tool.name, note: tool.title ?? '', icon: 'call', mono: true, href: `/test-call?tool=${encodeURIComponent(tool.name)}` })),
    ...(targets.data?.targets ?? []).map((/** @type {any} */ target) => ({ kind: 'Targets', label: target.name, note: target.type, icon: 'adapters', href: `/adapters/${encodeURIComponent(target.id)}` })),
    ...commands(onKeys),
  ], [tools.data, targets.data]);
}

/** @param {() => void} onKeys @returns {Hit[]} */
const commands = (onKeys) => [
  { kind: 'Commands', label: 'Light theme', icon: 'sun', run: () => setTheme('light') },
  { kind: 'Commands', label: 'Dark theme', icon: 'moon', run: () => setTheme('dark') },
  { kind: 'Commands', label: 'Theme of the system', icon: 'screen', run: () => setTheme('auto') },
  { kind: 'Commands', label: 'Keyboard', icon: 'info', run: onKeys },
  { kind: 'Commands', label: 'Sign out', icon: 'out', run: leave },
];

/** @param {Hit[]} all @param {string} asked @returns {Hit[]} grouped, the best of each kind */
function found(all, asked) {
  // Commands are found, not offered: there are few, and the list is for places.
  const kinds = asked ? ['Pages', 'Tools', 'Targets', 'Commands'] : ['Pages', 'Tools', 'Targets'];
  return kinds.flatMap((kind) => ranked(all.filter((each) => each.kind === kind), asked).slice(0, MOST));
}
