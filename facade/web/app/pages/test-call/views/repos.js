// Repositories of GitHub and Gitea, as a table.
import { html } from '../../../html.js';
import { Ago } from '../../../parts/time.js';
import { plain } from './figures.js';

/** @param {any} repo */
const seenBy = (repo) => repo.visibility ?? (repo.private ? 'private' : repo.internal ? 'internal' : 'public');

export const repos = {
  rowKey: (/** @type {any} */ repo) => plain(repo.id),
  columns: [
    {
      key: 'name', label: 'Repository', by: (/** @type {any} */ repo) => repo.full_name ?? repo.name, className: 'name',
      render: (/** @type {any} */ repo) => html`<span class="break">${plain(repo.full_name ?? repo.name)}</span>
        ${repo.description && html`<span class="sub break">${repo.description}</span>`}`,
    },
    {
      key: 'seen', label: 'Visibility',
      render: (/** @type {any} */ repo) => html`${seenBy(repo)}${repo.archived && html`<span class="sub">archived</span>`}`,
    },
    { key: 'language', label: 'Language', by: (/** @type {any} */ repo) => repo.language, className: 'md dim', render: (/** @type {any} */ repo) => plain(repo.language) },
    { key: 'branch', label: 'Branch', by: (/** @type {any} */ repo) => repo.default_branch, className: 'lg dim', render: (/** @type {any} */ repo) => html`<code>${plain(repo.default_branch)}</code>` },
    { key: 'open', label: 'Open issues', by: (/** @type {any} */ repo) => repo.open_issues_count, className: 'r lg dim', render: (/** @type {any} */ repo) => plain(repo.open_issues_count) },
    {
      key: 'updated', label: 'Updated', by: (/** @type {any} */ repo) => repo.updated_at, className: 'r sm dim',
      render: (/** @type {any} */ repo) => (Date.parse(repo.updated_at) ? html`<${Ago} at=${repo.updated_at} />` : '–'),
    },
  ],
};
