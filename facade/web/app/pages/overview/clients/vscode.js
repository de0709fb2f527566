// VS Code (GitHub Copilot in agent mode). It asks for the token once and keeps it, so that no file holds it.

/** @type {import('../clients.js').Client} */
export const vscode = {
  id: 'vscode',
  label: 'VS Code',
  short: 'VS Code',
  tokenName: 'vs-code',
  pieces: ({ mcp, token }) => [{
    label: 'mcp.json',
    where: 'command palette → "MCP: Open User Configuration", or .vscode/mcp.json in a project',
    text: JSON.stringify({
      inputs: [{ id: 'toolgate', type: 'promptString', description: 'Token of Toolgate', password: true }],
      servers: { toolgate: { type: 'http', url: mcp, headers: { Authorization: 'Bearer ${input:toolgate}' } } },
    }, null, 2),
  }, { label: 'Token', where: 'asked for once, when the server is started; VS Code keeps it', text: token }],
  then: 'Press Start above the entry and paste the token, then open the chat in agent mode: the tools stand under its tools button.',
};
