// The TypeScript SDK, version 1.

import { ask, load, options, overHttp, program, target, us } from "./told.mjs";

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");

const transport = overHttp
  ? new StreamableHTTPClientTransport(new URL(target[0]), options)
  : new StdioClientTransport(program());
const client = new Client(us);
await client.connect(transport);
await client.ping();
await client.setLoggingLevel("info");
await ask(client, transport.protocolVersion);
if (overHttp) await transport.terminateSession();
await client.close();
