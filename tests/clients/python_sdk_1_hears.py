"""What the Python SDK, version 1, hears beside results: against the fixtures. It has no way to leave a call."""

import asyncio

import told
from mcp import ClientSession, types
from mcp.client.streamable_http import streamablehttp_client


async def main():
    heard = {"progress": [], "logs": [], "changed": 0}
    changed = asyncio.Event()

    async def progress(at, total, message):
        heard["progress"].append([int(at), int(total)])

    async def log(line):
        heard["logs"].append([line.level, line.data])

    async def message(incoming):
        if isinstance(getattr(incoming, "root", None), types.ToolListChangedNotification):
            heard["changed"] += 1
            changed.set()

    async with streamablehttp_client(told.TARGET[0], headers=told.headers()) as (read, write, _):
        async with ClientSession(read, write, logging_callback=log, message_handler=message) as session:
            await session.initialize()
            await session.call_tool("test_tool_with_progress", {}, progress_callback=progress)
            await session.set_logging_level("info")
            await session.call_tool("test_tool_with_logging", {})
            await session.call_tool("test_trigger_tool_change", {})
            await asyncio.wait_for(changed.wait(), 10)
    told.tell(heard)


asyncio.run(main())
