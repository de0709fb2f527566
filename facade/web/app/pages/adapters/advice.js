// What makes a credential of each type, with the least rights: shown before the first check and after a refusal.
// Commands are built from what the form holds; nothing is fetched.

import { quoted } from '../../shell-text.js';

/** @typedef {{text: string, steps?: string[], code?: {label: string, text: string}}} Advice */

/** @param {string} tokenId @param {string} example the one that the form shows while there is none @returns {Advice} */
function proxmox(tokenId, example) {
  const id = /^[^!\s]+@[^!\s]+![^!\s]+$/.test(tokenId) ? tokenId : example;
  const [user = '', token = ''] = id.split('!');
  const lines = [
    `pveum user add ${quoted(user)}`,
    `pveum acl modify / --users ${quoted(user)} --roles PVEAuditor`,
    `pveum user token add ${quoted(user)} ${quoted(token)} --privsep 1`,
    `pveum acl modify / --tokens ${quoted(id)} --roles PVEAuditor`,
  ];
  return {
    text: 'The token and its user hold the role PVEAuditor on the root path, and no other entry anywhere. On any node of the cluster:',
    code: { label: 'on a Proxmox node', text: lines.join('\n') },
  };
}

/** @type {Record<string, Advice>} */
const TEXTS = {
  github: {
    text: 'A fine-grained personal access token that can read and nothing else.',
    steps: [
      'Open Settings, Developer settings, Personal access tokens, Fine-grained tokens, and choose Generate new token.',
      'Choose the owner and the repositories that agents may see.',
      'Under Permissions give Actions: Read-only. Metadata: Read-only comes by itself. Give nothing else.',
    ],
  },
  gitea: {
    text: 'An access token with the scope read:repository and no other.',
    steps: [
      'Open Settings, Applications, and Generate new token.',
      'Choose repository: Read, and No access for everything else.',
      'Copy the token at once, the server shows it only now.',
    ],
  },
  ssh: {
    text: 'Nothing to prepare. The gateway never dials the host: a relay there dials out, and runs six read-only commands.',
    steps: ['Copy the toolgate binary to the host; it is one file.', 'Add the host here, and run the line that is shown there.'],
  },
  project: {
    text: 'An MCP server of your own. A relay beside it dials out and brings its tools; nothing listens for it.',
    steps: [
      'Register the project here.',
      'Run the line that is shown beside the server, with the command that starts it after the two dashes.',
    ],
  },
  agent: {
    text: 'A bearer token, or a client of the provider that hands out tokens. Read-only access lists no tool that writes.',
    steps: ['Take a token or a client that can do what agents shall do, and no more. What it may write cannot be found out by reading.'],
  },
};

/**
 * What to do to have a credential that is accepted.
 * @param {string} type @param {Record<string, any>} credential what the form holds @param {any} [schema] the schema of it @returns {Advice}
 */
export function advice(type, credential, schema) {
  if (type === 'proxmox') return proxmox(String(credential.tokenId ?? ''), schema?.properties?.tokenId?.examples?.[0] ?? 'audit@pve!toolgate');
  return TEXTS[type.startsWith('agent-') ? 'agent' : type] ?? { text: '' };
}
