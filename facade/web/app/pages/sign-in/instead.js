// A sign-in link that was opened while somebody is signed in: it is not taken before they said so.
import { html } from '../../html.js';
import { Button } from '../../parts/button.js';

/** @param {{who: import('../../session.js').Me, onChange: () => void, onStay: () => void}} props */
export const Instead = ({ who, onChange, onStay }) => html`
  <h1>Sign in as somebody else?</h1>
  <p>You are signed in as <b>${who.principal}</b>, ${who.role}. This link signs this browser in as whoever it was made for and
    ends your session. If you did not ask for it, stay.</p>
  <div class="row"><${Button} kind="primary" onClick=${onStay}>Stay signed in<//><${Button} onClick=${onChange}>End my session and use the link<//></div>`;
