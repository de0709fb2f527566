"""Every method of MCP, in both directions, asked of the server that the makers of MCP show everything with."""

import asyncio
import os
import sys

import told
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl

DOCUMENT = "demo://resource/static/document/features.md"
TEXT = "demo://resource/dynamic/text/7"

document = {"asked": [], "progress": [], "logs": []}
updated = asyncio.Event()
logged = asyncio.Event()


async def sample(_, params):
    document["asked"].append(["sampling", params.model_dump(by_alias=True, exclude_none=True)])
    answer = types.TextContent(type="text", text="a sample")
    return types.CreateMessageResult(role="assistant", content=answer, model="none", stopReason="endTurn")


async def elicit(_, params):
    document["asked"].append(["elicitation", sorted(params.model_dump(by_alias=True, exclude_none=True))])
    return types.ElicitResult(action="decline")


async def roots(_):
    document["asked"].append(["roots"])
    return types.ListRootsResult(roots=[types.Root(uri=AnyUrl("file:///nowhere"), name="nowhere")])


async def progress(at, total, message):
    document["progress"].append([at, total])


async def log(line):
    document["logs"].append(line.level)
    logged.set()


async def message(incoming):
    if isinstance(getattr(incoming, "root", None), types.ResourceUpdatedNotification):
        updated.set()


async def main():
    if told.over_http():
        transport = streamablehttp_client(told.TARGET[0], headers=told.headers())
    else:
        command = StdioServerParameters(command=told.TARGET[0], args=told.TARGET[1:], env=dict(os.environ))
        transport = stdio_client(command)
    async with transport as streams:
        async with ClientSession(
            *streams[:2],
            sampling_callback=sample,
            elicitation_callback=elicit,
            list_roots_callback=roots,
            logging_callback=log,
            message_handler=message,
        ) as session:
            # What goes wrong in here is hidden by what the transport then complains of.
            try:
                await ask(session)
            except Exception as error:
                document["error"] = repr(error)
            # Roots may be asked for at any time.
            document["asked"].sort(key=str)
            told.tell(document)
            sys.stdout.flush()
            if not told.over_http():
                # This transport fails to close under a server that is still speaking.
                os._exit(0)


async def ask(session):
    hello = await session.initialize()
    tell("hello", hello)
    await session.send_ping()
    # The tools that a capability of the client brings come a moment after the handshake.
    for _ in range(100):
        tools = await session.list_tools()
        if any(tool.name == "trigger-elicitation-request" for tool in tools.tools):
            break
        await asyncio.sleep(0.05)
    document["tools"] = sorted(tool.model_dump_json(by_alias=True, exclude_none=True) for tool in tools.tools)
    for tool, arguments in [
        ("echo", {"message": "\u00fc\u2028\U0001f600"}),
        ("get-sum", {"a": 9007199254740993, "b": 1.5}),
        ("get-sum", {"a": "no number"}),
        ("get-tiny-image", {}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-annotated-message", {"messageType": "debug", "includeImage": True}),
        ("get-resource-links", {"count": 3}),
        ("trigger-sampling-request", {"prompt": "say something", "maxTokens": 5}),
        ("trigger-elicitation-request", {}),
        ("no_such_tool", {}),
    ]:
        await tell_call(session, tool, arguments)
    slow = {"duration": 0.4, "steps": 4}
    tell("slow", await session.call_tool("trigger-long-running-operation", slow, progress_callback=progress))
    await ask_prompts(session)
    await ask_resources(session)
    await session.set_logging_level("debug")
    await session.call_tool("toggle-simulated-logging", {})
    await asyncio.wait_for(logged.wait(), 20)
    await session.call_tool("toggle-simulated-logging", {})
    document["logs"] = bool(document["logs"])
    await session.send_roots_list_changed()


async def ask_prompts(session):
    prompts = await session.list_prompts()
    tell("prompts", prompts)
    for prompt in prompts.prompts:
        arguments = {argument.name: "Engineering" for argument in prompt.arguments or []}
        await tell_try("prompt " + prompt.name, session.get_prompt(prompt.name, arguments))
    reference = types.PromptReference(type="ref/prompt", name="completable-prompt")
    tell("complete", await session.complete(reference, {"name": "department", "value": "E"}))
    await tell_try("no prompt", session.get_prompt("no_such_prompt"))


async def ask_resources(session):
    tell("resources", await session.list_resources())
    tell("templates", await session.list_resource_templates())
    tell("document", await session.read_resource(AnyUrl(DOCUMENT)))
    await tell_try("no resource", session.read_resource(AnyUrl("demo://nothing")))
    await session.subscribe_resource(AnyUrl(TEXT))
    await session.call_tool("toggle-subscriber-updates", {})
    await asyncio.wait_for(updated.wait(), 20)
    await session.call_tool("toggle-subscriber-updates", {})
    await session.unsubscribe_resource(AnyUrl(TEXT))


async def tell_call(session, tool, arguments):
    await tell_try(f"{tool} {arguments}", session.call_tool(tool, arguments))


async def tell_try(what, asked):
    try:
        tell(what, await asked)
    except McpError as error:
        document[what] = error.error.model_dump(by_alias=True)


def tell(what, answer):
    document[what] = answer.model_dump(by_alias=True, exclude_none=True, mode="json")


asyncio.run(main())
