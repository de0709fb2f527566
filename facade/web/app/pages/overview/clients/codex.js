// Codex takes no token in its file, only the name of the variable that holds it.

/** @type {import('../clients.js').Client} */
export const codex = {
  id: 'codex',
  label: 'Codex',
  short: 'Codex',
  tokenName: 'codex',
  pieces: ({ mcp, token }) => [
    { label: 'config.toml', where: '~/.codex/config.toml', text: `[mcp_servers.toolgate]\nurl = "${mcp}"\nbearer_token_env_var = "TOOLGATE_TOKEN"` },
    { label: 'Environment', where: 'in the shell that starts Codex', text: `export TOOLGATE_TOKEN=${token}` },
  ],
  then: 'Start Codex and type /mcp: toolgate stands there with its tools.',
};
