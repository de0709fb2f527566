// What the TypeScript client, version 2, hears beside results, and that it can leave a call: against the fixtures.

import { hear, load, mode, options, target, us } from "./told.mjs";

const { Client, LOG_LEVEL_META_KEY, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");

const client = new Client(us, { versionNegotiation: { mode } });
const logs = (handler) => client.setNotificationHandler("notifications/message", handler);
const changes = (handler) => client.setNotificationHandler("notifications/tools/list_changed", handler);
await client.connect(new StreamableHTTPClientTransport(new URL(target[0]), options));
const listening = await client.listen({ toolsListChanged: true });
await hear(client, logs, changes, (params, more) =>
  client.callTool({ ...params, _meta: { [LOG_LEVEL_META_KEY]: "info" } }, more),
);
await listening.close();
await client.close();
