"""The Python SDK, version 2."""

import asyncio
import os

import told
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError


async def main():
    if told.over_http():
        async with create_mcp_http_client(headers=told.headers()) as http:
            await ask(streamable_http_client(told.TARGET[0], http_client=http))
    else:
        await ask(StdioServerParameters(command=told.TARGET[0], args=told.TARGET[1:], env=dict(os.environ)))


async def ask(server):
    async with Client(server, mode=told.MODE) as client:
        listed = await client.list_tools()
        good = await client.call_tool(told.TOOL, told.GOOD)
        bad = await client.call_tool(told.TOOL, told.BAD)
        try:
            unknown = {"isError": (await client.call_tool(told.UNKNOWN, {})).is_error}
        except MCPError as error:
            unknown = {"code": error.error.code, "message": error.error.message}
        told.tell(
            {
                "revision": client.protocol_version,
                # A pinned client never asks who it talks to.
                "server": client.server_info and client.server_info.model_dump(exclude_none=True),
                "capabilities": client.server_capabilities.model_dump(by_alias=True, exclude_none=True),
                "instructions": client.instructions,
                "tools": [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools],
                "good": result(good),
                "bad": result(bad),
                "unknown": unknown,
            }
        )


def result(outcome):
    return {
        "isError": bool(outcome.is_error),
        "text": "\n".join(block.text for block in outcome.content),
        "structured": outcome.structured_content,
        "meta": outcome.meta,
    }


asyncio.run(main())
