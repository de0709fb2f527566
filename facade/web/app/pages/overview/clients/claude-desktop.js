// Claude Desktop starts programs only: `toolgate mcp`, or a bridge where that program is not.

/** The port of gRPC where nothing else was set. */
const CORE_PORT = 7601;

/** @type {import('../clients.js').Client} */
export const claudeDesktop = {
  id: 'claude-desktop',
  label: 'Claude Desktop',
  short: 'Claude Desktop',
  tokenName: 'claude-desktop',
  pieces: ({ origin, mcp, token, profile }) => [{
    label: 'claude_desktop_config.json',
    where: 'Settings → Developer → Edit Config; macOS: ~/Library/Application Support/Claude, Windows: %APPDATA%\\Claude',
    text: JSON.stringify({
      mcpServers: {
        toolgate: {
          command: 'toolgate',
          args: ['mcp', '--core', coreOf(origin), ...(profile ? ['--tool-profile', profile] : [])],
          env: { TOOLGATE_TOKEN: token },
        },
      },
    }, null, 2),
  }, {
    label: 'Without the program',
    where: 'or, where there is no toolgate on that machine: a bridge, which needs Node.js',
    // The header is put together from the environment: some versions split arguments at blanks.
    text: JSON.stringify({
      mcpServers: {
        toolgate: {
          command: 'npx',
          args: ['-y', 'mcp-remote', mcp, '--transport', 'http-only', ...plain(mcp), '--header', 'Authorization:${TOOLGATE_AUTHORIZATION}'],
          env: { TOOLGATE_AUTHORIZATION: `Bearer ${token}` },
        },
      },
    }, null, 2),
  }],
  then: `--core names the gateway's gRPC address: port ${CORE_PORT}, where nothing else was set. Quit Claude Desktop and start it again: the tools stand under the connectors of a chat.`,
};

/** Where gRPC of the gateway answers, as far as a page can know. */
function coreOf(/** @type {string} */ origin) {
  const url = new URL(origin);
  return `${url.protocol}//${url.hostname}:${CORE_PORT}`;
}

/** The bridge takes plain HTTP from other machines only when it is told to. @returns {string[]} */
function plain(/** @type {string} */ mcp) {
  const url = new URL(mcp);
  const own = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'http:' && !own ? ['--allow-http'] : [];
}
