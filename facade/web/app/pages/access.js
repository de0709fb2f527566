// Who may ask, and how much of the catalog they see.
import { html } from '../html.js';
import { may } from '../session.js';
import { curl } from '../api.js';
import { Page } from '../parts/page.js';
import { Tabs } from '../parts/tabs.js';
import { Empty } from '../parts/empty.js';
import { Card } from '../parts/card.js';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/code.js';
import { Roles } from './access/roles.js';
import { Sessions } from './access/sessions.js';
import { SignInSettings } from './access/sign-in-settings.js';
import { Tokens } from './access/tokens.js';

/** @type {{id: string, label: string, href: string, asks: string, draw: any, for?: 'change'}[]} */
const PARTS = [
  { id: 'tokens', label: 'Tokens', href: '/access', asks: '/api/tokens', draw: Tokens, for: 'change' },
  { id: 'sessions', label: 'Sessions', href: '/access/sessions', asks: '/api/sessions', draw: Sessions },
  { id: 'roles', label: 'Roles', href: '/access/roles', asks: '/api/self', draw: Roles },
  { id: 'sign-in', label: 'Sign-in', href: '/access/sign-in', asks: '/api/sign-in/options', draw: SignInSettings },
];

/** @param {{parts: string[]}} props */
export default function Access({ parts }) {
  const mine = PARTS.filter((part) => !part.for || may(part.for));
  const part = parts[1] ? PARTS.find((each) => each.id === parts[1]) : mine[0];
  const lead = 'Who may ask, and how much of the catalog they see.';
  const copy = part && html`<${CopyButton} small=${false} text=${() => curl('GET', part.asks)}>Copy as curl<//>
    ${part.id === 'tokens' && html`<${Button} icon="agent" href="/?connect=claude">Connect an agent<//>`}`;
  return html`
    <${Page} title="Access" lead=${lead} actions=${copy}>
      <${Tabs} label="Access" current=${part?.id ?? ''} tabs=${mine.map(({ id, label, href }) => ({ id, label, href: id === mine[0]?.id ? '/access' : href }))} />
      ${part ? html`<${part.draw} key=${part.id} />` : html`<${Card} flush><${Empty} icon="search" title="Nothing has this address"><${Button} href="/access">Access<//><//><//>`}
    <//>`;
}
