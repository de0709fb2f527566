"""The Python SDK, version 1."""

import asyncio
import os

import told
from mcp import ClientSession, McpError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def main():
    if told.over_http():
        async with streamablehttp_client(told.TARGET[0], headers=told.headers()) as (read, write, _):
            await ask(read, write)
    else:
        server = StdioServerParameters(command=told.TARGET[0], args=told.TARGET[1:], env=dict(os.environ))
        async with stdio_client(server) as (read, write):
            await ask(read, write)


async def ask(read, write):
    async with ClientSession(read, write) as session:
        began = await session.initialize()
        await session.send_ping()
        await session.set_logging_level("info")
        listed = await session.list_tools()
        good = await session.call_tool(told.TOOL, told.GOOD)
        bad = await session.call_tool(told.TOOL, told.BAD)
        try:
            unknown = {"isError": (await session.call_tool(told.UNKNOWN, {})).isError}
        except McpError as error:
            unknown = {"code": error.error.code, "message": error.error.message}
        told.tell(
            {
                "revision": began.protocolVersion,
                "server": began.serverInfo.model_dump(exclude_none=True),
                "capabilities": began.capabilities.model_dump(exclude_none=True),
                "instructions": began.instructions,
                "tools": [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools],
                "good": result(good),
                "bad": result(bad),
                "unknown": unknown,
            }
        )


def result(outcome):
    return {
        "isError": outcome.isError,
        "text": "\n".join(block.text for block in outcome.content),
        "structured": outcome.structuredContent,
        "meta": outcome.meta,
    }


asyncio.run(main())
