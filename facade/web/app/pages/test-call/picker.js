// Choosing a tool: those that the caller has, searched by name and words. A name that is not among them can be called
// as well, because what the gateway does with it is worth seeing.
import { html, useEffect, useRef, useState } from '../../html.js';
import { Card } from '../../parts/card.js';
import { isInfrastructure } from '../tools/groups.js';
import { SearchInput } from '../../parts/filters.js';

/**
 * @typedef {{
 *   name: string, functionName: string, title: string, description: string, inputSchema: any, adapterType: string,
 *   freshness: string, annotations: {readOnlyHint: boolean}, targets: {id: string, name: string}[], project?: string,
 *   unlisted?: boolean
 * }} Tool
 */

/** @param {{tools: Tool[], chosen: Tool|null, onPick: (name: string) => void}} props */
export function ToolPicker({ tools, chosen, onPick }) {
  const [text, setText] = useState('');
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const shown = tools.filter((tool) => matches(tool, text));
  const bare = tools.filter(lacks).length;
  const other = unknownName(text, tools);
  useEffect(() => bringUp(box.current), [chosen?.name]);
  const first = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'ArrowDown') box.current?.querySelector('input')?.focus();
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const name = shown[0]?.name ?? other;
    if (name) onPick(name);
  };
  return html`<${Card} title="Tool" actions=${html`<span class="small faint">${tools.length} listed${bare > 0 && `, ${bare} without a target`}</span>`}>
    <div class="stack tight" onKeyDownCapture=${(/** @type {any} */ event) => event.target.type === 'search' && first(event)}>
      <${SearchInput} label="Search tools" value=${text} onChange=${setText} />
      <fieldset>
        <legend class="sr">Tool</legend>
        <div class="picker" ref=${box}>
          ${chosen?.unlisted && html`<${Option} tool=${chosen} checked=${true} onPick=${onPick} />`}
          ${shown.map((tool) => html`<${Option} key=${tool.name} tool=${tool} checked=${tool.name === chosen?.name} onPick=${onPick} />`)}
          ${other && other !== chosen?.name && html`<${Option} key="?" tool=${unlisted(other)} checked=${false} onPick=${onPick} />`}
          ${!shown.length && !other && html`<p class="help pad">No tool of yours has these words. A whole name can be called as well.</p>`}
        </div>
      </fieldset>
    </div>
  <//>`;
}

/** @param {{tool: Tool, checked: boolean, onPick: (name: string) => void}} props */
function Option({ tool, checked, onPick }) {
  return html`<label class="opt-row">
    <input type="radio" name="tool" value=${tool.name} checked=${checked} onChange=${() => onPick(tool.name)} />
    <code class="break">${tool.name}</code>
    <span class=${`small ${writes(tool) ? 'warn' : 'faint'}`}>${writes(tool) ? 'writes' : lacks(tool) ? 'no target' : tool.freshness}</span>
    <span class="help">${tool.title}${tool.project && html` · from project ${tool.project}`}</span>
  </label>`;
}

/**
 * A tool of which only the name is known.
 * @param {string} name
 * @returns {Tool}
 */
export function unlisted(name) {
  return {
    name, functionName: name.replaceAll('.', '_'), title: 'Not in your list: the gateway decides', description: '', inputSchema: {},
    adapterType: '', freshness: '', annotations: { readOnlyHint: true }, targets: [], unlisted: true,
  };
}

/** Listed, with nothing behind it to ask. @param {Tool} tool */
const lacks = (tool) => !tool.unlisted && tool.targets.length === 0 && isInfrastructure(tool);

/** @param {Tool} tool */
const writes = (tool) => tool.annotations?.readOnlyHint === false;

/** @param {Tool} tool @param {string} text */
function matches(tool, text) {
  const within = `${tool.name} ${tool.functionName} ${tool.title} ${tool.description} ${tool.adapterType}`.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => within.includes(word));
}

/** @param {string} text @param {Tool[]} tools */
function unknownName(text, tools) {
  const name = text.trim();
  const known = tools.some((tool) => tool.name === name || tool.functionName === name);
  return /^[A-Za-z][\w./:-]{2,}$/.test(name) && /[._/:]/.test(name) && !known ? name : '';
}

/** Scrolls the list, never the page. @param {HTMLElement|null} box */
function bringUp(box) {
  const row = box?.querySelector('input:checked')?.closest('label');
  if (!box || !row) return;
  const top = row.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top + row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - row.offsetHeight;
}
