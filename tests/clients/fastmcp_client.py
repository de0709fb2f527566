"""FastMCP's client."""

import asyncio
import os

import told
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.shared.exceptions import MCPError


def server():
    if told.over_http():
        return StreamableHttpTransport(told.TARGET[0], headers=told.headers())
    return StdioTransport(told.TARGET[0], told.TARGET[1:], env=dict(os.environ))


async def main():
    async with Client(server(), mode=told.MODE) as client:
        listed = await client.list_tools()
        good = await client.call_tool_mcp(told.TOOL, told.GOOD)
        bad = await client.call_tool_mcp(told.TOOL, told.BAD)
        try:
            unknown = {"isError": (await client.call_tool_mcp(told.UNKNOWN, {})).is_error}
        except MCPError as error:
            unknown = {"code": error.error.code, "message": error.error.message}
        session = client.session
        told.tell(
            {
                "revision": session.protocol_version,
                "server": session.server_info.model_dump(exclude_none=True),
                "capabilities": session.server_capabilities.model_dump(by_alias=True, exclude_none=True),
                "instructions": session.instructions,
                "tools": [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed],
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
