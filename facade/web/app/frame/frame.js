// What stands around every page: navigation, the tenant, search, theme, who is signed in.
import { html, useEffect, useRef, useState } from '../html.js';
import { route, still } from '../router.js';
import { useKeys } from '../use.js';
import { dismissNewest } from '../parts/toast.js';
import { Sidebar } from './sidebar.js';
import { Topbar } from './topbar.js';
import { Palette } from './palette.js';
import { KeysHelp } from './keys-help.js';

/** @param {{children?: any}} props */
export function Frame({ children }) {
  const [searching, setSearching] = useState(false);
  const [helping, setHelping] = useState(false);
  const content = useRef(/** @type {HTMLElement | null} */ (null));
  const path = route.value.path;
  const first = useRef(true);
  useEffect(() => {
    if (!first.current && !still) {
      content.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    first.current = false;
  }, [path]);
  useKeys({
    'ctrl+k': () => setSearching(true),
    '?': () => setHelping(true),
    Escape: () => dismissNewest(),
  });
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault();
    content.current?.focus();
  };
  return html`
    <a class="skip" href="#content" onClick=${skip}>Skip to content</a>
    <div class="app">
      <${Sidebar} />
      <div class="main">
        <${Topbar} onSearch=${() => setSearching(true)} onKeys=${() => setHelping(true)} />
        <main id="content" tabindex="-1" ref=${content}>${children}</main>
      </div>
    </div>
    ${searching && html`<${Palette} onClose=${() => setSearching(false)} onKeys=${() => setHelping(true)} />`}
    ${helping && html`<${KeysHelp} onClose=${() => setHelping(false)} />`}`;
}
