// Claude Code: one command, or `.mcp.json` in a project.

/** @type {import('../clients.js').Client} */
export const claudeCode = {
  id: 'claude',
  label: 'Claude Code',
  short: 'Claude Code',
  tokenName: 'claude-code',
  pieces: ({ mcp, token }) => [
    { label: 'Command', where: 'in a terminal; for all your projects', text: `claude mcp add --scope user --transport http toolgate ${mcp} \\\n  --header "Authorization: Bearer ${token}"` },
    {
      label: '.mcp.json',
      where: 'or in a project: .mcp.json at its root (it holds the token: keep it out of version control)',
      text: JSON.stringify({ mcpServers: { toolgate: { type: 'http', url: mcp, headers: { Authorization: `Bearer ${token}` } } } }, null, 2),
    },
  ],
  then: 'Type /mcp in Claude Code: toolgate stands there as connected, with its tools.',
};
