// What stands around every page: navigation, the tenant, search, theme, who is signed in.
import { html, useEffect, useRef, useState } from '../html.js';
import { route, still } from '../router.js';
import { useKeys } from '../use.js';
import { dismissNewest, toast } from '../parts/toast.js';
import { Sidebar } from './sidebar.js';
import { Topbar } from './topbar.js';

/** @param {{children?: any}} props */
export function Frame({ children }) {
  const search = useOpened(() => import('./palette.js').then((module) => module.Palette));
  const help = useOpened(() => import('./keys-help.js').then((module) => module.KeysHelp));
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
    'ctrl+k': search.open,
    '?': help.open,
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
        <${Topbar} onSearch=${search.open} onKeys=${help.open} />
        <main id="content" tabindex="-1" ref=${content}>${children}</main>
      </div>
    </div>
    ${search.draw && html`<${search.draw} onClose=${search.close} onKeys=${help.open} />`}
    ${help.draw && html`<${help.draw} onClose=${help.close} />`}`;
}

/** A part that is loaded when it is first opened. @param {() => Promise<any>} load */
function useOpened(load) {
  const [part, setPart] = useState(/** @type {{draw: any}} */ ({ draw: null }));
  const open = () => {
    load().then((draw) => setPart({ draw }), () => toast({ state: 'bad', title: 'Not loaded', text: 'The gateway did not hand it out; load the page again.' }));
  };
  return { draw: part.draw, open, close: () => setPart({ draw: null }) };
}
