// CI runs of GitHub, Gitea and Forgejo, as a table. Addresses are text: nothing here leads out of these pages.
import { html } from '../../../html.js';
import { Dot } from '../../../parts/badge.js';
import { Ago } from '../../../parts/time.js';
import { plain } from './figures.js';

const GOOD = ['success', 'neutral'];
const BAD = ['failure', 'startup_failure', 'timed_out', 'error'];

/** @param {any} run */
function state(run) {
  const word = run.conclusion ?? run.status;
  if (GOOD.includes(word)) return 'ok';
  if (BAD.includes(word)) return 'bad';
  return run.conclusion ? 'off' : 'warn';
}

export const runs = {
  rowKey: (/** @type {any} */ run) => plain(run.id),
  columns: [
    {
      key: 'run', label: 'Run', by: (/** @type {any} */ run) => run.run_number, className: 'name',
      render: (/** @type {any} */ run) => html`<span class="break">${plain(run.display_title ?? run.name)}</span>
        <span class="sub">#${plain(run.run_number)} · <code>${plain(run.id)}</code></span>`,
    },
    {
      key: 'state', label: 'State', by: (/** @type {any} */ run) => run.conclusion ?? run.status,
      render: (/** @type {any} */ run) => html`<span class="state"><${Dot} state=${state(run)} />
        ${plain(run.conclusion ?? run.status)}</span>`,
    },
    { key: 'workflow', label: 'Workflow', by: (/** @type {any} */ run) => run.workflow ?? run.name, className: 'lg dim', render: (/** @type {any} */ run) => plain(run.workflow ?? run.name) },
    { key: 'event', label: 'Event', by: (/** @type {any} */ run) => run.event, className: 'lg dim', render: (/** @type {any} */ run) => plain(run.event) },
    { key: 'branch', label: 'Branch', by: (/** @type {any} */ run) => run.head_branch, className: 'md dim', render: (/** @type {any} */ run) => html`<code>${plain(run.head_branch)}</code>` },
    {
      key: 'started', label: 'Started', by: (/** @type {any} */ run) => run.run_started_at ?? run.started_at ?? run.created_at, className: 'r sm dim',
      render: (/** @type {any} */ run) => time(run.run_started_at ?? run.started_at ?? run.created_at),
    },
  ],
};

/** @param {string|undefined} at */
function time(at) {
  return at && !Number.isNaN(Date.parse(at)) ? html`<${Ago} at=${at} />` : plain(at);
}
