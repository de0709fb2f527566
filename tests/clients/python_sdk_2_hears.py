"""What the Python SDK, version 2, hears beside results, and that it can leave a call: against the fixtures."""

import asyncio

import anyio
import told
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


async def main():
    heard = {"progress": [], "logs": [], "changed": 0}
    changed = anyio.Event()

    async def progress(at, total, message):
        heard["progress"].append([int(at), int(total)])

    async def log(line):
        heard["logs"].append([line.level, line.data])

    async def message(incoming):
        # In the newer revisions it is an event of the stream that was asked for.
        if told.MODE == "legacy" and getattr(incoming, "method", None) == "notifications/tools/list_changed":
            heard["changed"] += 1
            changed.set()

    async with create_mcp_http_client(headers=told.headers()) as http:
        server = streamable_http_client(told.TARGET[0], http_client=http)
        options = {"logging_callback": log, "log_level": "info", "message_handler": message}
        async with Client(server, mode=told.MODE, **options) as client:
            await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
            if told.MODE == "legacy":
                await client.set_logging_level("info")
            await client.call_tool("test_tool_with_logging", {})
            with anyio.fail_after(10):
                if told.MODE == "legacy":
                    await client.call_tool("test_trigger_tool_change", {})
                    await changed.wait()
                else:
                    async with client.listen(tools_list_changed=True) as events:
                        await client.call_tool("test_trigger_tool_change", {})
                        async for _ in events:
                            heard["changed"] += 1
                            break
            with anyio.move_on_after(1):
                await client.call_tool("test_slow", {})
            # After a call that was left, the connection is as good as before.
            heard["after"] = (await client.call_tool("test_simple_text", {})).content[0].text
    told.tell(heard)


asyncio.run(main())
