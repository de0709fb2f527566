// The registry in its subjects, and how a tool stands. Draws nothing.
import { lookup } from '../../lookup.js';

/**
 * @typedef {{
 *   name: string, functionName: string, title: string, description: string, adapterType: string, group?: string,
 *   effect: 'read'|'write'|'local', freshness?: string, state: string, why: string, tokens: number, inputSchema: any,
 *   outputSchema?: any, targets: number, disabled: boolean
 * }} Tool
 * @typedef {{id: string, title: string, tools: Tool[], infrastructure: boolean}} Group
 */

const TITLES = /** @type {Record<string, string>} */ (lookup({
  proxmox: 'Proxmox', ssh: 'SSH', github: 'GitHub', gitea: 'Gitea', memory: 'Memory', code_graph: 'Code graph', operator: 'Operator',
  chat: 'Chat', platform: 'Platform', fleet: 'Fleet', gateway: "The gateway's own",
}));
const ORDER = Object.keys(TITLES);

/**
 * The subject of a tool, by which it is filtered and grouped.
 * @param {Tool} tool
 */
export const subject = (tool) => tool.group || tool.adapterType;

/** What the count of all tools leaves out of the registry. */
export const WITHOUT = "without the gateway's own, which a profile must ask for";

/** Types whose tools are listed before a target stands behind them. */
const INFRASTRUCTURE = ['proxmox', 'ssh', 'github', 'gitea'];

/** @param {{adapterType: string, project?: string}} tool */
export const isInfrastructure = (tool) => INFRASTRUCTURE.includes(tool.adapterType) && !tool.project;

/**
 * The tools of a profile in words: a pattern such as `project.*` stands for tools that projects bring.
 * @param {string[]} tools
 */
export function toolsTold(tools) {
  const named = tools.filter((name) => !name.endsWith('*')).length;
  return `${named} tool${named === 1 ? '' : 's'}${named < tools.length ? ' and those of projects' : ''}`;
}

/** @param {string} id */
export const titleOf = (id) => TITLES[id] ?? id;

/**
 * @param {Tool[]} tools
 * @returns {Group[]}
 */
export function grouped(tools) {
  /** @type {Map<string, Tool[]>} */
  const found = new Map();
  for (const tool of tools) found.set(subject(tool), [...(found.get(subject(tool)) ?? []), tool]);
  return [...found.entries()]
    .map(([id, each]) => ({ id, title: titleOf(id), tools: each, infrastructure: !each[0]?.group }))
    .sort((a, b) => place(a.id) - place(b.id));
}

/** @param {string} id */
function place(id) {
  const at = ORDER.indexOf(id);
  return at < 0 ? ORDER.length : at;
}

/**
 * @param {Tool[]} tools
 * @param {{q: string, show: string, of: string}} wanted
 */
export function wantedOf(tools, { q, show, of }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return tools.filter((tool) => {
    const text = `${tool.name} ${tool.functionName} ${tool.title} ${tool.description}`.toLowerCase();
    return words.every((word) => text.includes(word)) && (!of || subject(tool) === of) && shows(tool, show);
  });
}

/** @param {Tool} tool @param {string} show */
function shows(tool, show) {
  if (show === 'read' || show === 'write') return tool.effect === show;
  if (show === 'off') return tool.disabled;
  if (show === 'hidden') return tool.state !== 'listed';
  return true;
}

/**
 * How a group stands in a few words: "7 listed, 13 hidden: read only".
 * @param {Tool[]} tools
 */
export function summary(tools) {
  const words = /** @type {[string, string][]} */ ([
    ['listed', 'listed'], ['disabled', 'off'], ['read_only', 'hidden: back end is read only'], ['no_back_end', 'without a target'], ['on_request', 'on request of a profile'], ['hidden', 'hidden'],
  ]);
  const parts = words.map(([state, word]) => [tools.filter((tool) => tool.state === state).length, word]).filter(([count]) => count);
  const bare = tools.length > 0 && tools.every((tool) => tool.state === 'listed' && tool.targets === 0 && isInfrastructure(tool));
  return parts.map(([count, word]) => `${count} ${word}`).join(', ') + (bare ? ', no target yet' : '');
}
