// The line that starts a relay, as it is pasted into a shell. Pure.

import { quoted } from '../../shell-text.js';

/** What stands for the server of a project in the line of the gateway, and in ours, until its command is known. */
const PLACE = 'YOUR-SERVER';
const EXAMPLE = './your-mcp-server';

/** Between the options of the relay and the command of the server. */
const DASHES = ' -- ';

/**
 * The line of the gateway with what the person says of the machine. The command of the server is theirs and goes in as
 * it was typed: it is words of the shell, not one.
 * @param {string} command @param {{project: boolean, server?: string, root?: boolean}} given
 */
export function startLine(command, { project, server = '', root = false }) {
  const at = command.lastIndexOf(DASHES + PLACE);
  const relay = (at < 0 ? command : command.slice(0, at)) + (root ? ' --allow-root' : '');
  return project ? `${relay}${DASHES}${server.trim() || PLACE}` : relay;
}

/** The line that starts a relay which has enrolled. @param {{type: string, name: string}} target @param {string} origin */
export const laterLine = ({ type, name }, origin) =>
  `toolgate relay ${type === 'project' ? 'project' : 'host'} --gateway ${quoted(origin)} --name ${quoted(name)}${type === 'project' ? `${DASHES}${EXAMPLE}` : ''}`;

/** A name that a project can have. @param {string} name */
export const isProjectName = (name) => /^[a-z0-9][a-z0-9-]{0,39}$/.test(name);

/** The lines of the command line that bring a project in; a name that it cannot have is not told again. @param {string} name @param {string} origin */
export function projectLines(name, origin) {
  const said = isProjectName(name) ? name : 'storefront';
  return `toolgate fleet add ${quoted(said)}\n${laterLine({ type: 'project', name: said }, origin)}`;
}
