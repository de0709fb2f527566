// Tools: the registry as this tenant sees it, what profiles make of it, and why a token does not see a tool.
import { html } from '../html.js';
import { curl } from '../api.js';
import { needStyle } from '../need-style.js';
import { CopyButton } from '../parts/code.js';
import { Page } from '../parts/page.js';
import { Tabs } from '../parts/tabs.js';
import { later } from '../later.js';
import { useGet } from '../use.js';
import { Registry } from './tools/registry.js';

await needStyle('tools');

// Each is a place of its own, loaded by who goes there.
const Compare = later(() => import('./tools/compare.js'), 'Compare');
const Profile = later(() => import('./tools/profile.js'), 'Profile');
const Profiles = later(() => import('./tools/profiles.js'), 'Profiles');
const ToolPage = later(() => import('./tools/tool.js'), 'ToolPage');
const Why = later(() => import('./tools/why.js'), 'Why');

const LEAD = 'The registry is closed: nothing can be added here, only switched off or narrowed to a profile.';

/** What `/tools/` is followed by where it is no tool. */
const PLACES = ['profiles', 'compare', 'why'];

/** @param {{parts: string[], query: URLSearchParams}} props */
export default function Tools({ parts, query }) {
  const [, place, name] = parts;
  if (place && !PLACES.includes(place)) return html`<${ToolPage} name=${place} />`;
  if (place === 'profiles' && name) return html`<${Profile} name=${name} />`;
  return html`<${Overview} place=${place ?? 'registry'} query=${query} />`;
}

/** @param {{place: string, query: URLSearchParams}} props */
function Overview({ place, query }) {
  const registry = useGet('/api/tools');
  const profiles = useGet('/api/profiles');
  const tabs = [
    { id: 'registry', label: 'Registry', count: registry.data?.tools.length, href: '/tools' },
    { id: 'profiles', label: 'Profiles', count: profiles.data?.profiles.length, href: '/tools/profiles' },
    { id: 'compare', label: 'Compare', href: '/tools/compare' },
    { id: 'why', label: 'Why not visible?', href: '/tools/why' },
  ];
  const read = { registry: '/api/tools', profiles: '/api/profile-costs', compare: '/api/profiles', why: '/api/tools/NAME/why' }[place] ?? '/api/tools';
  return html`<${Page} title="Tools" lead=${LEAD} actions=${html`<${CopyButton} small=${false} text=${() => curl('GET', read)}>Copy as curl<//>`}>
    <${Tabs} label="Tools" tabs=${tabs} current=${place} />
    ${place === 'registry' && html`<${Registry} registry=${registry} query=${query} />`}
    ${place === 'profiles' && html`<${Profiles} profiles=${profiles} />`}
    ${place === 'compare' && html`<${Compare} profiles=${profiles} query=${query} />`}
    ${place === 'why' && html`<${Why} registry=${registry} profiles=${profiles} query=${query} />`}
  <//>`;
}
