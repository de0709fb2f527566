// What the TypeScript SDK, version 1, hears beside results, and that it can take a call back: against the fixtures.

import { hear, load, options, target, us } from "./told.mjs";

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { LoggingMessageNotificationSchema, ToolListChangedNotificationSchema } = await load(
  "@modelcontextprotocol/sdk/types.js",
);

const client = new Client(us);
const logs = (handler) => client.setNotificationHandler(LoggingMessageNotificationSchema, handler);
const changes = (handler) => client.setNotificationHandler(ToolListChangedNotificationSchema, handler);
await client.connect(new StreamableHTTPClientTransport(new URL(target[0]), options));
await client.setLoggingLevel("info");
await hear(client, logs, changes, (params, more) => client.callTool(params, undefined, more));
await client.close();
