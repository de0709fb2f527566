// The TypeScript client, version 2.

import { ask, load, mode, options, overHttp, program, target, us } from "./told.mjs";

const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");

const transport = overHttp
  ? new StreamableHTTPClientTransport(new URL(target[0]), options)
  : new (await load("@modelcontextprotocol/client/stdio")).StdioClientTransport(program());
const client = new Client(us, { versionNegotiation: { mode } });
await client.connect(transport);
await ask(client, client.getNegotiatedProtocolVersion());
await client.close();
