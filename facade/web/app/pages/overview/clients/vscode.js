// VS Code (GitHub Copilot in agent mode).

/** @type {import('../clients.js').Client} */
export const vscode = {
  id: 'vscode',
  label: 'VS Code',
  short: 'VS Code',
  tokenName: 'vs-code',
  pieces: ({ mcp, token }) => [{
    label: 'mcp.json',
    where: 'command palette → "MCP: Open User Configuration", or .vscode/mcp.json in a project (it holds the token: keep it out of version control)',
    text: JSON.stringify({ servers: { toolgate: { type: 'http', url: mcp, headers: { Authorization: `Bearer ${token}` } } } }, null, 2),
  }],
  then: 'Press Start above the entry, then open the chat in agent mode: the tools stand under its tools button.',
};
