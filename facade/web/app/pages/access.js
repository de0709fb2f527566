// Who may ask, and how much of the catalog they see.
import { html } from '../html.js';
import { Page } from '../parts/page.js';
import { Tabs } from '../parts/tabs.js';
import { may } from '../session.js';
import { Tokens } from './access/tokens.js';

/** @param {{parts: string[]}} props */
export default function Access({ parts }) {
  const part = parts[1] ?? 'tokens';
  return html`
    <${Page} title="Access" lead="Who may ask, and how much of the catalog they see.">
      <${Tabs} current=${part} tabs=${[{ id: 'tokens', label: 'Tokens', href: '/access' }, { id: 'sessions', label: 'Sessions', href: '/access/sessions' }, { id: 'sign-in', label: 'Sign-in', href: '/access/sign-in' }]} />
      ${part === 'tokens' && may('change') && html`<${Tokens} />`}
    <//>`;
}
