// The adapter types as people meet them: picture, short words, stages, and where a refusal of each stage belongs.
// Forms, help texts and tools come from the gateway; here is only what it does not say.
import { lookup } from '../../lookup.js';

/**
 * @typedef {{title: string, short: string, icon: string, stages: string[], relay?: boolean, address?: string,
 *   credential?: string}} Kind
 */

const DIALLED = ['reach', 'tls', 'authenticate', 'privileges', 'version', 'sample'];
const AGENT = ['reach', 'tls', 'authenticate', 'sample'];

/** @type {Record<string, Kind>} */
const KINDS = lookup({
  proxmox: { title: 'Proxmox VE', short: 'VMs, nodes, metrics', icon: 'layers', stages: DIALLED, address: '/config/host', credential: '/credential/tokenId' },
  github: { title: 'GitHub', short: 'Repositories, CI runs', icon: 'branch', stages: DIALLED.filter((stage) => stage !== 'version'), address: '/config/baseUrl', credential: '/credential/token' },
  gitea: { title: 'Gitea, Forgejo', short: 'Repositories, CI runs', icon: 'book', stages: DIALLED, address: '/config/baseUrl', credential: '/credential/token' },
  ssh: { title: 'SSH host', short: 'Six read-only commands', icon: 'host', stages: ['relay'], relay: true },
  'agent-memory': { title: 'Agent memory', short: 'Memory, code graph', icon: 'agent', stages: AGENT, address: '/config/baseUrl', credential: '/credential/token' },
  'agent-operator': { title: 'Agent operator', short: 'Projects, tasks', icon: 'agent', stages: AGENT, address: '/config/baseUrl', credential: '/credential/token' },
  'agent-chat': { title: 'Agent chat', short: 'Rooms, messages', icon: 'agent', stages: AGENT, address: '/config/baseUrl', credential: '/credential/token' },
  project: { title: 'Project', short: 'Its own tools, by uplink', icon: 'folder', stages: ['relay'], relay: true },
});

/** The order of the picker; what the gateway has beyond it comes after. */
export const ORDER = Object.keys(KINDS);

/** @param {string} type @returns {Kind} */
export const kindOf = (type) => KINDS[type] ?? { title: type, short: '', icon: 'adapters', stages: [] };

/** @type {Record<string, string>} */
const STAGES = lookup({
  reach: 'Reached',
  tls: 'TLS',
  authenticate: 'Authenticated',
  privileges: 'Privileges',
  version: 'Version',
  sample: 'First read',
  enrolment: 'Key pinned',
  relay: 'Relay answers',
});

/** A stage in the words of people. @param {string} name @returns {string} */
export const stageTitle = (name) => STAGES[name] ?? name;

/**
 * The field that a failed stage is about, as a JSON Pointer into what was sent.
 * @param {string} type @param {string} stage @returns {string | undefined}
 */
export function fieldOf(type, stage) {
  const kind = kindOf(type);
  if (stage === 'tls') return '/config/fingerprints';
  return stage === 'reach' || stage === 'version' ? kind.address : kind.credential;
}
