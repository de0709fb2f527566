// What every client here is asked to do, and how it tells what it saw: one JSON document on standard output.
//
// The token comes in TOOLGATE_TOKEN, so that it stands in no list of processes. The packages lie where MCP_PACKAGES says:
// modules find theirs by the place of the importing file, and these files do not stand beside a node_modules.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/** How to negotiate, which tool to call well and with which JSON, and the URL or the command of whom to ask. */
export const [mode, tool, good, ...target] = process.argv.slice(2);

const bad = { command: 7 };
const unknown = "no_such_tool";
export const us = { name: "toolgate-tests", version: "1.0.0" };

/** Imports a package from where the packages lie. */
export const load = (name) => {
  const require = createRequire(pathToFileURL(process.env.MCP_PACKAGES + "/"));
  return import(pathToFileURL(require.resolve(name)));
};

/** Whether the target is a URL. */
export const overHttp = target[0].startsWith("http");

/** The credential, as every request over HTTP carries it. */
export const options = { requestInit: { headers: { Authorization: `Bearer ${process.env.TOOLGATE_TOKEN}` } } };

/** The program behind a target that is no URL. */
export const program = () => ({ command: target[0], args: target.slice(1), env: process.env });

const result = (outcome) => ({
  isError: outcome.isError ?? false,
  text: outcome.content.map((block) => block.text).join("\n"),
  structured: outcome.structuredContent,
  meta: outcome._meta,
});

/** Asks a connected client for everything and prints it. */
export async function ask(client, revision) {
  const { tools } = await client.listTools();
  const document = {
    revision,
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    tools,
    good: result(await client.callTool({ name: tool, arguments: JSON.parse(good) })),
    bad: result(await client.callTool({ name: tool, arguments: bad })),
  };
  try {
    const outcome = await client.callTool({ name: unknown, arguments: {} });
    document.unknown = { isError: outcome.isError };
  } catch (error) {
    document.unknown = { code: error.code, message: error.message };
  }
  process.stdout.write(JSON.stringify(document) + "\n");
}

/** Calls the fixtures that tell something before they answer, leaves one that does not, and prints what was heard. */
export async function hear(client, logs, changes, call) {
  const heard = { progress: [], logs: [], changed: 0 };
  logs(({ params }) => heard.logs.push([params.level, params.data]));
  const changed = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("no change of the list was told")), 10_000).unref();
    changes(() => resolve((heard.changed += 1)));
  });
  const onprogress = ({ progress, total }) => heard.progress.push([progress, total]);
  await call({ name: "test_tool_with_progress", arguments: {} }, { onprogress });
  await call({ name: "test_tool_with_logging", arguments: {} });
  await call({ name: "test_trigger_tool_change", arguments: {} });
  await changed;
  const signal = AbortSignal.timeout(1_000);
  await call({ name: "test_slow", arguments: {} }, { signal }).catch(() => {});
  // After a call that was left, the connection is as good as before.
  heard.after = (await call({ name: "test_simple_text", arguments: {} })).content[0].text;
  process.stdout.write(JSON.stringify(heard) + "\n");
}
