// The TypeScript SDK, version 1.

import { ask, load, options, overHttp, program, target, us } from "./told.mjs";

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const transport = overHttp
  ? new StreamableHTTPClientTransport(new URL(target[0]), options)
  : new StdioClientTransport(program());
let revision;
// The client tells nobody but its transport what was agreed on, and that over pipes does not listen.
const heard = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (agreed) => {
  revision = agreed;
  heard?.(agreed);
};
const client = new Client(us);
await client.connect(transport);
await client.ping();
await client.setLoggingLevel("info");
await ask(client, revision);
if (overHttp) await transport.terminateSession();
await client.close();
