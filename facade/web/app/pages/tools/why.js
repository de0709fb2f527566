// Why can this token not see this tool? The gateway answers by the very rules that decide calls; this page shows where
// in their order it stopped.
import { curl } from '../../api.js';
import { html, useEffect, useState } from '../../html.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { CopyButton } from '../../parts/code.js';
import { Field, Select, TextInput } from '../../parts/field.js';
import { Refusal } from '../../parts/note.js';
import { Skeleton } from '../../parts/skeleton.js';
import { setQuery } from '../../router.js';
import { may } from '../../session.js';
import { useGet } from '../../use.js';
import { Ladder } from './ladder.js';
import { useTokens } from './use-tokens.js';

/** @param {{registry: ReturnType<typeof useGet>, profiles: ReturnType<typeof useGet>, query: URLSearchParams}} props */
export function Why({ registry, profiles, query }) {
  const asked = { tool: query.get('tool') ?? '', token: query.get('token') ?? '', profile: query.get('profile') ?? '' };
  const path = asked.tool && `/api/tools/${encodeURIComponent(asked.tool)}/why`;
  const answer = useGet(path || null, { query: { token: asked.token, profile: asked.profile } });
  return html`<div class="split even">
    <${Question} asked=${asked} tools=${registry.data?.tools ?? []} profiles=${profiles.data?.profiles ?? []} />
    ${path && html`<${Card} title=${html`<code>${asked.tool}</code>`} actions=${html`<${CopyButton} text=${() => curl('GET', path + search(asked))}>Copy as curl<//>`}>
      ${answer.error && html`<${Refusal} problem=${answer.error} onRetry=${answer.reload} />`}
      ${!answer.data && !answer.error && html`<${Skeleton} lines=${5} />`}
      ${answer.data && !answer.error && html`<${Ladder} answer=${answer.data} asked=${asked.tool} tools=${registry.data?.tools ?? []} />`}
    <//>`}
  </div>`;
}

/** @typedef {{tool: string, token: string, profile: string}} Asked */

/** @param {{asked: Asked, tools: import('./groups.js').Tool[], profiles: {name: string}[]}} props */
function Question({ asked, tools, profiles }) {
  const [tool, setTool] = useState(asked.tool);
  const { tokens } = useTokens();
  useEffect(() => setTool(asked.tool), [asked.tool]);
  const ask = (/** @type {Event} */ event) => {
    event.preventDefault();
    setQuery({ tool: tool.trim() || null }, { push: true });
  };
  const names = [{ value: '', label: 'no profile asked for' }, ...profiles.map(({ name }) => ({ value: name, label: name }))];
  const whose = [{ value: '', label: 'you' }, ...(tokens ?? []).map(({ id, name, role }) => ({ value: id, label: `${name}, ${role}` }))];
  return html`<form onSubmit=${ask}><${Card} title="Why can this token not see this tool?" foot=${html`<${Button} kind="primary" type="submit">Ask<//><span class="small faint">asked of the rules that decide calls</span>`}>
    ${may('change') && html`<${Field} label="Token" help="Any live token of this tenant.">${(/** @type {string} */ id, /** @type {string} */ by) => html`
      <${Select} id=${id} describedBy=${by} value=${asked.token} options=${whose} onChange=${(/** @type {string} */ token) => setQuery({ token: token || null })} />`}<//>`}
    <${Field} label="Tool" required>${(/** @type {string} */ id, /** @type {string} */ by) => html`<${TextInput} id=${id} describedBy=${by} mono list="why-tools" value=${tool} onChange=${setTool} placeholder="proxmox.list_vms" />`}<//>
    <datalist id="why-tools">${tools.map(({ name }) => html`<option key=${name} value=${name}></option>`)}</datalist>
    <${Field} label="Profile" optional help="One that its bearer would ask for; a pinned one wins over it.">${(/** @type {string} */ id, /** @type {string} */ by) => html`
      <${Select} id=${id} describedBy=${by} value=${asked.profile} options=${names} onChange=${(/** @type {string} */ profile) => setQuery({ profile: profile || null })} />`}<//>
  <//></form>`;
}

/** @param {Asked} asked */
function search({ token, profile }) {
  const query = new URLSearchParams(Object.entries({ token, profile }).filter(([, value]) => value)).toString();
  return query && `?${query}`;
}
