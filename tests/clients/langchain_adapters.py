"""langchain-mcp-adapters: the tools as LangChain has them.

It has no call by name, so there is nothing to be told of an unknown tool, and no revision.
"""

import asyncio
import os

import told
from langchain_mcp_adapters.client import MultiServerMCPClient


def server():
    if told.over_http():
        return {"transport": "streamable_http", "url": told.TARGET[0], "headers": told.headers()}
    return {"transport": "stdio", "command": told.TARGET[0], "args": told.TARGET[1:], "env": dict(os.environ)}


async def main():
    client = MultiServerMCPClient({"toolgate": server()})
    tools = await client.get_tools()
    tool = next(each for each in tools if each.name == told.TOOL)
    good = await call(tool, told.GOOD)
    bad = await call(tool, told.BAD)
    told.tell(
        {
            "tools": [
                {"name": each.name, "description": each.description, "inputSchema": each.args_schema}
                for each in tools
            ],
            "good": good,
            "bad": bad,
        }
    )


async def call(tool, arguments):
    message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    blocks = message.content if isinstance(message.content, list) else [{"text": message.content}]
    return {
        "isError": message.status == "error",
        "text": "\n".join(block["text"] for block in blocks),
        "structured": (message.artifact or {}).get("structured_content"),
    }


asyncio.run(main())
