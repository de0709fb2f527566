// Cursor.

/** @type {import('../clients.js').Client} */
export const cursor = {
  id: 'cursor',
  label: 'Cursor',
  short: 'Cursor',
  tokenName: 'cursor',
  pieces: ({ mcp, token }) => [{
    label: 'mcp.json',
    where: '~/.cursor/mcp.json, or .cursor/mcp.json in a project (it holds the token: keep it out of version control)',
    text: JSON.stringify({ mcpServers: { toolgate: { url: mcp, headers: { Authorization: `Bearer ${token}` } } } }, null, 2),
  }],
  then: 'Look at Settings → MCP: toolgate has a green dot and its tools.',
};
