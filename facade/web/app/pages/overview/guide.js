// Three steps to a first answer. Each works, and ticks itself off when what it asks for has happened.

import { html } from '../../html.js';
import { Link } from '../../router.js';
import { curl } from '../../api.js';
import { may } from '../../session.js';
import { Button } from '../../parts/button.js';
import { Code } from '../../parts/code.js';
import { Steps } from '../../parts/steps.js';
import { CLIENTS } from './clients.js';

/** @typedef {import('./progress.js').Progress} Progress */

const CALL = { name: 'ssh.run_whitelisted_command', arguments: { command: 'uptime' } };

/** @param {{progress: Progress, onHide: () => void}} props */
export function Guide({ progress, onHide }) {
  const steps = [
    { title: 'Add a target', done: progress.target !== null, children: html`<${AddTarget} target=${progress.target} />` },
    { title: 'Call it', done: progress.called, children: html`<${CallIt} progress=${progress} />` },
    { title: 'Connect an agent', done: progress.agent, children: html`<${ConnectIt} agent=${progress.agent} />` },
  ];
  const left = steps.filter((step) => !step.done).length;
  return html`<section class="stack" aria-labelledby="guide-title">
    <div class="page-head"><div><h2 id="guide-title">Three steps to a first answer</h2>
      <p role="status">${left === 0 ? 'All done: below is your own traffic.' : 'Each step is real and ticks itself off; this page then shows your own traffic.'}</p></div>
      <div class="actions"><${Button} small onClick=${onHide}>${left === 0 ? 'Close' : 'Hide the steps'}<//></div></div>
    <${Steps} steps=${steps} /></section>`;
}

function AddTarget(/** @type {{target: Progress['target']}} */ { target }) {
  return html`<p>${target?.config?.builtIn
      ? html`This host, <b>${target.name}</b>, is already enrolled through the built-in relay, so you can call a tool right now.`
      : target ? html`<b>${target.name}</b> is ${target.status}.`
        : 'A target is a system that agents may ask: a host, a Proxmox cluster, GitHub, Gitea, a project of your own.'}</p>
    <div>${may('change') && html`<${Button} kind=${target ? undefined : 'primary'} icon="plus" href="/adapters/new">${target ? 'Add another target' : 'Add a target'}<//>`}</div>`;
}

function CallIt(/** @type {{progress: Progress}} */ { progress }) {
  const { target, called, several } = progress;
  const named = several && target ? { targetId: target.id } : {};
  const here = `/test-call?${new URLSearchParams({ tool: CALL.name, arguments: JSON.stringify(CALL.arguments), ...(several && target ? { target: target.id } : {}) })}`;
  const host = !target || target.type === 'ssh';
  return html`<p>${called ? 'The first call is on the record.' : 'The same call works from a shell. It answers when the call is on the record.'}</p>
    ${host && !called && html`<${Code} text=${waiting(curl('POST', '/api/mcp/invoke', { ...CALL, ...named }))} label="curl" head="curl" wrap />`}
    <div>${may('call') && html`<${Button} kind=${called ? undefined : 'primary'} icon="play" href=${host ? here : '/test-call'}>Call it here<//>`}</div>`;
}

/** The command with the header that waits for the outcome. */
const waiting = (/** @type {string} */ command) => command.replace(/ -H /, " -H 'Prefer: wait' -H ");

function ConnectIt(/** @type {{agent: boolean}} */ { agent }) {
  return html`<p>${agent ? 'An agent has used its token. Others connect the same way.' : 'Pick a client; the configuration is ready to paste, with a token made for it.'}</p>
    <ul class="clients">${CLIENTS.map((client) => html`<li key=${client.id}><${Link} class="btn" href=${`/?connect=${client.id}`}>${client.short}<//></li>`)}</ul>`;
}
