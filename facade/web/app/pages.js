// Which page an address names. A page is loaded when it is first opened.
import { html, signal, useEffect, useErrorBoundary } from './html.js';
import { route } from './router.js';
import { Page } from './parts/page.js';
import { Button } from './parts/button.js';
import { Note } from './parts/note.js';
import { Empty } from './parts/empty.js';
import { Card } from './parts/card.js';

/** By the first part of the path; the address is the module's. */
const PAGES = new Set(['overview', 'adapters', 'test-call', 'tools', 'audit', 'fleet', 'access', 'sign-in']);

/** What has been loaded; null: it could not be. */
const loaded = signal(/** @type {Record<string, any>} */ ({}));

/** @param {string} name */
async function load(name) {
  try {
    const module = await import(`./pages/${name}.js`);
    loaded.value = { ...loaded.value, [name]: module.default };
  } catch (error) {
    console.error(error);
    loaded.value = { ...loaded.value, [name]: null };
  }
}

/** Begins to load a page that will probably be asked for. @param {string} name */
export function preload(name) {
  if (PAGES.has(name) && !(name in loaded.value)) load(name);
}

/** The page of the address. */
export function PageRoom() {
  const { parts, query } = route.value;
  const name = parts[0] ?? 'overview';
  const here = PAGES.has(name);
  const page = loaded.value[name];
  useEffect(() => { if (here) preload(name); }, [name]);
  if (!here) return html`<${NotHere} />`;
  if (page === undefined) return html`<div class="page" aria-busy="true"></div>`;
  if (page === null) return html`<${NotLoaded} name=${name} />`;
  return html`<${Guarded} key=${name} page=${page} parts=${parts} query=${query} />`;
}

/** A page that breaks takes nothing else with it. @param {{page: any, parts: string[], query: URLSearchParams}} props */
function Guarded({ page: Shown, parts, query }) {
  const [fault, reset] = useErrorBoundary((error) => console.error(error));
  if (fault) {
    return html`<${Page} title="This page broke"><${Note} state="bad" title="Something on this page could not be drawn." action=${html`<${Button} small icon="reload" onClick=${reset}>Draw it again<//>`}>${String(fault?.message ?? fault)}<//><//>`;
  }
  return html`<${Shown} parts=${parts} query=${query} />`;
}

const NotHere = () => html`
  <${Page} title="No such page"><${Card} flush><${Empty} icon="search" title="Nothing has this address" text="It may be an old link, or it was typed."><${Button} href="/">Overview<//><//><//><//>`;

/** @param {{name: string}} props */
function NotLoaded({ name }) {
  const again = () => {
    const { [name]: _, ...rest } = loaded.value;
    loaded.value = rest;
    // A module that failed once stays failed until the page is loaded again.
    location.reload();
  };
  return html`<${Page} title="Not loaded"><${Note} state="warn" title="This page could not be loaded." action=${html`<${Button} small icon="reload" onClick=${again}>Try again<//>`}>The gateway did not hand it out; it may have been started anew.<//><//>`;
}
