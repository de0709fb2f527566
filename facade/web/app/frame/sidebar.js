// The navigation: beside the page, a rail where it is narrow, a drawer where it is narrower.
import { html, useEffect, useRef } from '../html.js';
import { Link, route } from '../router.js';
import { preload } from '../pages.js';
import { Icon, Mark } from '../parts/icon.js';
import { groups } from './places.js';
import { Refused } from './refused.js';
import { Seal } from './seal.js';
import { ThemeSwitch } from './theme-switch.js';

export function Sidebar() {
  const drawer = useRef(/** @type {any} */ (null));
  const { path, parts } = route.value;
  const here = parts[0] ?? 'overview';
  useEffect(() => { if (drawer.current?.matches(':popover-open')) drawer.current.hidePopover(); }, [path]);
  return html`
    <nav class="sidebar" id="nav" popover ref=${drawer} aria-label="Main">
      <${Link} class="brand" href="/" aria-label="Toolgate, overview"><${Mark} /><span>Toolgate</span><//>
      ${groups().map((group, at) => html`
        ${group.label && html`<p class="nav-label" id=${`nav-${at}`}>${group.label}</p>`}
        <ul class="nav" aria-labelledby=${group.label ? `nav-${at}` : undefined}>${group.places.map((place) => html`
          <li key=${place.name}><${Link} href=${place.href} title=${place.label} aria-current=${place.name === here ? 'page' : undefined} onPointerEnter=${() => preload(place.name)}>
            <${Icon} name=${place.icon} /><span>${place.label}</span>${place.name === 'fleet' && html`<${Refused} />`}<//></li>`)}
        </ul>`)}
      <${Seal} />
      <${ThemeSwitch} />
    </nav>`;
}
