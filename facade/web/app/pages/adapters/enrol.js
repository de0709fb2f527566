// How the relay of a host or project comes in: the line to run, how long its token lasts, and what is heard of it.

import { html, useEffect, useRef, useState } from '../../html.js';
import { useNow } from '../../use.js';
import { Link } from '../../router.js';
import { may } from '../../session.js';
import { Badge } from '../../parts/badge.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code } from '../../parts/code.js';
import { Check, Field, TextInput } from '../../parts/field.js';
import { Note, Refusal } from '../../parts/note.js';
import { Stages } from '../../parts/stages.js';
import { Clock } from '../../parts/time.js';
import { enrolments, markUsed, renew } from './enrolments.js';
import { laterLine, startLine } from './start-line.js';
import { failedAt, isOutlived, newest, shortKey, spent } from './target.js';
import { test, tested } from './tests.js';

/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./target.js').Relay} Relay */

/** @param {number} ms @returns {string} */
const clock = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor((ms % 60000) / 1000)).padStart(2, '0')}`;

/** @param {{left: number}} props milliseconds */
const Validity = ({ left }) =>
  left > 0
    ? html`<${Badge} state=${left < 120000 ? 'warn' : 'accent'} icon="clock">token valid for ${clock(left)}<//>`
    : html`<${Badge} state="bad" icon="clock">token expired<//>`;

/** The line to run, with what only the person knows of the machine it runs on. @param {{target: Target, command: string}} props */
function Line({ target, command }) {
  const [server, setServer] = useState('');
  const [root, setRoot] = useState(false);
  const project = target.type === 'project';
  return html`<p class="dim small">Toolgate never dials ${project ? 'a project' : 'a host'}. Run this line ${project ? 'beside your server' : html`on <b class="strong">${target.name}</b>`}; the relay dials out, makes its key there and appears here by itself.</p>
    ${project &&
    html`<${Field} label="Command that starts your MCP server" help="It goes into the line after the two dashes, as you would type it there.">
      ${(/** @type {string} */ id, /** @type {string} */ describedBy) =>
        html`<${TextInput} id=${id} describedBy=${describedBy} mono value=${server} maxlength="2048" placeholder="npx my-mcp-server" onChange=${setServer} />`}
    <//>`}
    <${Code} text=${startLine(command, { project, server, root })} head="Start line" label="Relay start command" wrap />
    <${Check} checked=${root} onChange=${setRoot} label=${html`It runs there as root: a relay refuses to, without <code>--allow-root</code>`} />
    <p class="help">The token is shown once, works once and is stored only as a hash.</p>`;
}

/** @param {{target: Target}} props */
function StartLine({ target }) {
  const now = useNow(1000);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const enrolment = enrolments.value[target.id];
  const left = enrolment && !enrolment.used ? Date.parse(enrolment.expiresAt) - now : 0;
  const anew = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await renew(target.id);
    } catch (refused) {
      setProblem(refused);
    }
    setBusy(false);
  };
  const button = may('change') && html`<${Button} kind=${left > 0 || enrolment?.used ? 'quiet' : 'primary'} small busy=${busy} icon="key" onClick=${anew}>New token<//>`;
  const project = target.type === 'project';
  return html`<${Card} title=${`Start the relay ${project ? 'beside' : 'on'} ${target.name}`} actions=${enrolment?.token && html`<${Validity} left=${left} />`}
    foot=${button}>
      ${problem && html`<${Refusal} problem=${problem} />`}
      ${enrolment?.command && left > 0
        ? html`<${Line} target=${target} command=${enrolment.command} />`
        : html`<p class="dim small">${without(target, enrolment)}</p>${enrolment?.used && !target.config.builtIn && html`<${Code} text=${laterLine(target, location.origin)} head="Start command" label="Start command" wrap />`}`}
  <//>`;
}

/** Why there is no line to run. @param {Target} target @param {import('./enrolments.js').Enrolment | undefined} enrolment @returns {string} */
function without(target, enrolment) {
  if (target.config.builtIn) return 'This is the gateway’s own host. Its relay runs inside the gateway, takes a new token by itself and needs no line.';
  if (enrolment?.used) return 'Its relay has enrolled, and the token is used up. Every later start needs none:';
  if (enrolment) return 'The token was not used in time. Make a new one; the old line no longer works.';
  return 'A token is shown once, when it is made. Make a new one to see the line; any unused one stops working.';
}

/** @param {Target} target @param {Relay | undefined} relay @param {import('./target.js').Tested | undefined} last */
function progress(target, relay, last) {
  const enrolment = enrolments.value[target.id];
  const known = !['waiting', 'revoked', 'locked'].includes(target.status);
  const live = known && target.status !== 'offline';
  const tested = isOutlived(relay, last) ? undefined : last;
  return [
    { name: 'Token issued', ok: enrolment || known ? true : undefined, reason: enrolment && html`<${Clock} at=${enrolment.issuedAt} />` },
    { name: 'Relay dialled in', ok: known || undefined, reason: known && relay?.version ? `relay ${relay.version}` : undefined },
    { name: 'Key proven and pinned', ok: known || undefined, reason: known && relay?.pinnedKey ? html`<code>${shortKey(relay.pinnedKey)}</code>` : undefined },
    { name: 'Answers a test', ok: live ? tested?.ok : undefined, ms: tested?.ok ? spent(tested.stages) : undefined, reason: live ? failedAt(tested?.stages ?? [])?.reason : undefined },
  ];
}

/**
 * @param {{target: Target, relay?: Relay}} props
 */
export function Enrol({ target, relay }) {
  const asked = useRef(false);
  const again = useRef(false);
  const live = target.status === 'ready';
  const last = newest(target, tested.value[target.id]);
  useEffect(() => {
    // The first word from a new relay: that a test reaches it.
    if (!live || asked.current) return;
    asked.current = true;
    markUsed(target.id);
    test(target.id);
  }, [live]);
  const outlived = isOutlived(relay, last);
  useEffect(() => {
    // The first test came before its server was up; one more, now that it is.
    if (!outlived || again.current || !asked.current) return;
    again.current = true;
    test(target.id);
  }, [outlived]);
  return html`<div class="split form">
    <${StartLine} target=${target} />
    <${Card} title=${live ? `${target.name} is here` : 'Waiting for the relay'} actions=${html`<${Badge} state="live">live<//>`}>
      <${Stages} stages=${progress(target, relay, last)} running=${!last?.ok && !!enrolments.value[target.id]} />
        ${live && last?.ok &&
        html`<${Note} state="ok" title="Connected.">
          <p>${target.type === 'project' ? html`<${Link} href=${`/fleet/${target.name}`}>See its tools<//>` : html`<${Link} href=${`/test-call?target=${target.id}`}>Call a tool on it<//>`}</p>
        <//>`}
    <//>
  </div>`;
}
