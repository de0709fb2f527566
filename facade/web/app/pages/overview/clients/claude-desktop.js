// Claude Desktop starts programs only, so a bridge carries its messages to the gateway.

/** @type {import('../clients.js').Client} */
export const claudeDesktop = {
  id: 'claude-desktop',
  label: 'Claude Desktop',
  short: 'Claude Desktop',
  tokenName: 'claude-desktop',
  pieces: ({ mcp, token }) => [{
    label: 'claude_desktop_config.json',
    where: 'Settings → Developer → Edit Config; macOS: ~/Library/Application Support/Claude, Windows: %APPDATA%\\Claude',
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
  }, {
    label: 'Without Node.js',
    where: 'or, on the machine of the gateway: the program itself, over a pipe',
    text: JSON.stringify({
      mcpServers: {
        toolgate: { command: 'toolgate', args: ['mcp', '--data-dir', '/absolute/path/of/toolgate-data'], env: { TOOLGATE_TOKEN: token } },
      },
    }, null, 2),
  }],
  then: 'The first needs Node.js. Quit Claude Desktop and start it again: the tools stand under the connectors of a chat.',
};

/** The bridge takes plain HTTP from other machines only when it is told to. @returns {string[]} */
function plain(/** @type {string} */ mcp) {
  const url = new URL(mcp);
  const own = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'http:' && !own ? ['--allow-http'] : [];
}
