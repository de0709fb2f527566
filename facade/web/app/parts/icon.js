// The pictograms, drawn on a grid of 16. Names say what is shown; the word beside it says what it means.
import { html } from '../html.js';

/** @type {Record<string, () => any>} */
const SHAPES = {
  adapters: () => html`<path d="M5.5 2.5v3M10.5 2.5v3M3.5 5.5h9v2a4.5 4.5 0 0 1-9 0zM8 12v2"/>`,
  agent: () => html`<rect x="3" y="5" width="10" height="8" rx="2"/><path d="M8 5V2.5M6 8.5v1M10 8.5v1"/>`,
  bolt: () => html`<path d="M9 1.75 3.5 9H8l-1 5.25L12.5 7H8z"/>`,
  book: () => html`<path d="M3.5 12.5v-9a1 1 0 0 1 1-1h8v9h-8a1 1 0 0 0-1 1 1 1 0 0 0 1 1h8v-2"/>`,
  branch: () => html`<circle cx="4.5" cy="3.75" r="1.5"/><circle cx="4.5" cy="12.25" r="1.5"/><circle cx="11.5" cy="5.75" r="1.5"/><path d="M4.5 5.25v5.5M11.5 7.25c0 2.5-3 2.5-5.5 3"/>`,
  call: () => html`<path d="M3 3.5 6.5 8 3 12.5M8.5 12.5H13"/>`,
  check: () => html`<path d="m3.5 8.5 3 3 6-6.5"/>`,
  clock: () => html`<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3.2l2 1.3"/>`,
  copy: () => html`<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 5.5v-2A1 1 0 0 0 9.5 2.5h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2"/>`,
  cross: () => html`<path d="m4 4 8 8M12 4l-8 8"/>`,
  down: () => html`<path d="m4.5 6.5 3.5 3.5 3.5-3.5"/>`,
  eye: () => html`<path d="M1.5 8S4 3.75 8 3.75 14.5 8 14.5 8 12 12.25 8 12.25 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="1.75"/>`,
  filter: () => html`<path d="M2.5 4h11M4.5 8h7M6.5 12h3"/>`,
  fleet: () => html`<circle cx="8" cy="8" r="2"/><circle cx="3" cy="3.5" r="1.25"/><circle cx="13" cy="3.5" r="1.25"/><circle cx="3" cy="12.5" r="1.25"/><circle cx="13" cy="12.5" r="1.25"/><path d="m4 4.4 2.6 2.2M12 4.4 9.4 6.6M4 11.6l2.6-2.2M12 11.6 9.4 9.4"/>`,
  folder: () => html`<path d="M2.5 4.5a1 1 0 0 1 1-1h3l1.5 2h4.5a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z"/>`,
  host: () => html`<rect x="2" y="3" width="12" height="10" rx="1.5"/><path d="m4.5 6 2 2-2 2M8.5 10h3"/>`,
  info: () => html`<circle cx="8" cy="8" r="5.5"/><path d="M8 7.5v3.25M8 5.2v.1"/>`,
  key: () => html`<circle cx="5.5" cy="10.5" r="3"/><path d="m7.7 8.3 5.3-5.3M10.5 5.5l2 2M12.5 3.5l1 1"/>`,
  layers: () => html`<path d="m8 2 6 3-6 3-6-3zM2 8l6 3 6-3M2 11l6 3 6-3"/>`,
  left: () => html`<path d="M9.5 4.5 6 8l3.5 3.5"/>`,
  link: () => html`<path d="M6.5 9.5a2.5 2.5 0 0 0 3.6.1l2.2-2.2a2.5 2.5 0 0 0-3.6-3.6l-.9.9M9.5 6.5a2.5 2.5 0 0 0-3.6-.1L3.7 8.6a2.5 2.5 0 0 0 3.6 3.6l.9-.9"/>`,
  lock: () => html`<rect x="3.5" y="7" width="9" height="6.5" rx="1.25"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>`,
  menu: () => html`<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>`,
  minus: () => html`<path d="M4 8h8"/>`,
  moon: () => html`<path d="M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z"/>`,
  more: () => html`<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" stroke-width="2.25"/>`,
  offline: () => html`<path d="M4.5 11.5a5 5 0 0 1 7-7M13 8a5 5 0 0 1-5 5M2.5 13.5l11-11"/>`,
  out: () => html`<path d="M6.5 3.5h-3v9h9v-3M9 2.5h4.5V7M13.5 2.5 7.5 8.5"/>`,
  overview: () => html`<path d="M2.5 9.5h3l2-6 3 9 1.5-3h1.5"/>`,
  pause: () => html`<path d="M5.5 3.5v9M10.5 3.5v9"/>`,
  pen: () => html`<path d="m3 13 .7-2.8 7-7a1.2 1.2 0 0 1 1.7 0l.4.4a1.2 1.2 0 0 1 0 1.7l-7 7z"/>`,
  play: () => html`<path d="M5 3.5v9l7-4.5z"/>`,
  plus: () => html`<path d="M8 3v10M3 8h10"/>`,
  refused: () => html`<path d="M8 1.75 13 3.5v4.25c0 3-2.1 5.2-5 6.5-2.9-1.3-5-3.5-5-6.5V3.5z"/><path d="m6.2 6.2 3.6 3.6M9.8 6.2 6.2 9.8"/>`,
  reload: () => html`<path d="M13 8a5 5 0 1 1-1.5-3.5L13 6M13 3v3h-3"/>`,
  right: () => html`<path d="m6.5 4.5 3.5 3.5-3.5 3.5"/>`,
  save: () => html`<path d="M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10"/>`,
  screen: () => html`<rect x="2" y="3" width="12" height="8.5" rx="1.25"/><path d="M6 14h4"/>`,
  seal: () => html`<path d="M8 1.75 13 3.5v4.25c0 3-2.1 5.2-5 6.5-2.9-1.3-5-3.5-5-6.5V3.5z"/><path d="m5.75 8 1.6 1.6 3-3.2"/>`,
  search: () => html`<circle cx="7" cy="7" r="4"/><path d="m10 10 3.5 3.5"/>`,
  stop: () => html`<rect x="4" y="4" width="8" height="8" rx="1"/>`,
  sun: () => html`<circle cx="8" cy="8" r="2.75"/><path d="M8 1.5v1.25M8 13.25v1.25M1.5 8h1.25M13.25 8h1.25M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9"/>`,
  tools: () => html`<rect x="2.5" y="2.5" width="4.5" height="4.5" rx="1"/><rect x="9" y="2.5" width="4.5" height="4.5" rx="1"/><rect x="2.5" y="9" width="4.5" height="4.5" rx="1"/><path d="M11.25 9v4.5M9 11.25h4.5"/>`,
  trash: () => html`<path d="M3 4.5h10M6 4.5V3a.75.75 0 0 1 .75-.75h2.5A.75.75 0 0 1 10 3v1.5M4.5 4.5l.5 8.25a1 1 0 0 0 1 .95h4a1 1 0 0 0 1-.95l.5-8.25M6.75 7v4M9.25 7v4"/>`,
  warn: () => html`<path d="M8 2.5 14 13H2zM8 6.5v3M8 11.4v.1"/>`,
};

/** Whether there is a pictogram of this name. @param {string} name */
export const hasIcon = (name) => Object.hasOwn(SHAPES, name);

/** @param {{name: string, small?: boolean}} props an unknown name draws nothing and keeps the room */
export const Icon = ({ name, small = false }) => html`
  <svg class=${small ? 'i s' : 'i'} viewBox="0 0 16 16" aria-hidden="true" data-icon=${name}>${SHAPES[name]?.()}</svg>`;

/** The mark of the product. */
export const Mark = () => html`
  <svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><rect width="24" height="24" rx="6" class="mk-bg"/><path d="M7.5 6v12M16.5 6v12" class="mk-ln" stroke-width="2" stroke-linecap="round"/><path d="M2 12h8.5M13.5 12H22" class="mk-ln" stroke-width="1.5" opacity=".55"/><circle cx="12" cy="12" r="2" class="mk-dot"/></svg>`;
