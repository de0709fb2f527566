// The same call in each dialect of the gate, as commands for a shell. The token is read from TOOLGATE_TOKEN.
import { writeExact } from '../../exact.js';
import { curlText, quoted } from '../../shell-text.js';
import { lookup } from '../../lookup.js';

/** The typed rpc of each infrastructure tool; all others go through the broker's own. */
const RPC = /** @type {Record<string, string>} */ (lookup({
  'proxmox.list_vms': 'ProxmoxService/ListVms',
  'proxmox.get_vm_status': 'ProxmoxService/GetVmStatus',
  'proxmox.get_node_metrics': 'ProxmoxService/GetNodeMetrics',
  'ssh.run_whitelisted_command': 'SshService/RunWhitelistedCommand',
  'github.list_repos': 'GithubService/ListGithubRepos',
  'github.get_recent_ci_runs': 'GithubService/GetGithubRecentCiRuns',
  'github.get_workflow_run': 'GithubService/GetWorkflowRun',
  'gitea.list_repos': 'GiteaService/ListGiteaRepos',
  'gitea.get_recent_ci_runs': 'GiteaService/GetGiteaRecentCiRuns',
}));

const REVISION = '2026-07-28';

/**
 * @typedef {{name: string, functionName: string, args: any, target: string}} Asked
 * @param {Asked} asked
 * @param {string} [origin]
 * @returns {{id: string, label: string, text: string}[]}
 */
export function variants(asked, origin = location.origin) {
  return [
    { id: 'curl', label: 'curl', text: rest(asked, origin) },
    { id: 'grpcurl', label: 'grpcurl', text: grpc(asked, origin) },
    { id: 'mcp', label: 'MCP', text: mcp(asked, origin) },
    { id: 'openai', label: 'OpenAI', text: openai(asked, origin) },
  ];
}

/** @param {Asked} asked @param {string} origin */
function rest({ name, args, target }, origin) {
  const body = target ? { name, arguments: args, targetId: target } : { name, arguments: args };
  return curlText(origin, 'POST', '/api/mcp/invoke', body, ['prefer: wait']);
}

/** @param {Asked} asked @param {string} origin */
function mcp({ functionName, args, target }, origin) {
  const params = {
    name: functionName,
    arguments: withTarget(args, target),
    _meta: { 'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientCapabilities': {} },
  };
  const headers = [`mcp-protocol-version: ${REVISION}`, 'mcp-method: tools/call', `mcp-name: ${functionName}`];
  return curlText(origin, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers);
}

/** @param {Asked} asked @param {string} origin */
function openai({ functionName, args, target }, origin) {
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: functionName, arguments: writeExact(withTarget(args, target)) },
  };
  return curlText(origin, 'POST', '/openai/v1/tool_calls', { role: 'assistant', content: null, tool_calls: [call] });
}

/** @param {Asked} asked @param {string} origin */
function grpc({ name, args, target }, origin) {
  const url = new URL(origin);
  const address = `"\${TOOLGATE_GRPC:-${url.hostname}:7601}"`;
  const first = `grpcurl ${url.protocol === 'http:' ? '-plaintext ' : ''}-H "authorization: Bearer $TOOLGATE_TOKEN"`;
  const typed = RPC[name];
  if (typed) {
    const metadata = target ? [`  -H ${quoted(`toolgate-target-id: ${target}`)}`] : [];
    return [first, ...metadata, `  -d ${quoted(writeExact(args))}`, `  ${address} toolgate.tools.v1.${typed}`].join(' \\\n');
  }
  // Arguments are bytes in the contract, which JSON carries as base64.
  const body = { name, arguments: base64(writeExact(args)), ...(target ? { targetId: target } : {}) };
  return [first, `  -d ${quoted(JSON.stringify(body))}`, `  ${address} toolgate.v1.BrokerService/Call`].join(' \\\n');
}

/** @param {any} args @param {string} target */
function withTarget(args, target) {
  return target ? { ...args, target_id: target } : args;
}

/** @param {string} text */
function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
