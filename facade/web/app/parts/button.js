// Buttons, and links that look like one.
import { html } from '../html.js';
import { Link } from '../router.js';
import { Icon } from './icon.js';

/**
 * @param {{kind?: 'primary' | 'quiet' | 'danger' | 'destroy', icon?: string, busy?: boolean, small?: boolean, href?: string,
 *   type?: string, disabled?: boolean, children?: any, class?: string} & Record<string, any>} props
 *   destroy: the last button before something is gone. Without children it wants an aria-label.
 */
export function Button({ kind, icon, busy, small, href, type = 'button', disabled, children, class: more, ...rest }) {
  const bare = children === undefined || children === null;
  const name = ['btn', kind === 'destroy' ? 'danger solid' : kind, small && 'sm', bare && 'icon', more].filter(Boolean).join(' ');
  const inside = html`${icon && html`<${Icon} name=${icon} small=${small} />`}${children}`;
  if (href && /^https?:/.test(href)) return html`<a class=${name} href=${href} target="_blank" rel="noreferrer noopener" ...${rest}>${inside}</a>`;
  if (href) return html`<${Link} class=${name} href=${href} ...${rest}>${inside}<//>`;
  return html`<button class=${name} type=${type} disabled=${disabled || busy} aria-busy=${busy || undefined} ...${rest}>${inside}</button>`;
}
