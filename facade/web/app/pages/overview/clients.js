// The clients that a configuration is offered for, in the order they are shown.
//
// Each is a file of its own: adding one is adding a file and a line here. A client knows where its configuration goes and
// how it looks; it is given the address of the gateway and a token, and asks for nothing.

import { claudeCode } from './clients/claude-code.js';
import { claudeDesktop } from './clients/claude-desktop.js';
import { codex } from './clients/codex.js';
import { cursor } from './clients/cursor.js';
import { langchain } from './clients/langchain.js';
import { openai } from './clients/openai.js';
import { vscode } from './clients/vscode.js';

/**
 * What a configuration is made of: the origin of this gateway, its MCP endpoint, a token or what stands for one, and the
 * profile under which the tools are listed, if any.
 * @typedef {{origin: string, mcp: string, token: string, profile: string}} Given
 * @typedef {{label: string, where: string, text: string}} Piece one block to paste, and where it goes
 * @typedef {{id: string, label: string, short: string, tokenName: string, pieces: (given: Given) => Piece[], then: string}} Client
 */

/** @type {Client[]} */
export const CLIENTS = [claudeCode, claudeDesktop, vscode, cursor, codex, openai, langchain];

/** The client of an id; `claude` is the one with a terminal. */
export const clientOf = (/** @type {string|null} */ id) =>
  CLIENTS.find((client) => client.id === id) ?? (id ? CLIENTS[0] : undefined);

/** The MCP endpoint of the gateway that this page came from. */
export const endpoint = (/** @type {string} */ origin, /** @type {string} */ profile) =>
  profile ? `${origin}/mcp/p/${encodeURIComponent(profile)}` : `${origin}/mcp`;
