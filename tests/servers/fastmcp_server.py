"""A project as people write one: FastMCP on standard input and output, or over HTTP on a port that it prints."""

import asyncio
import socket
import sys

import uvicorn
from fastmcp import Context, FastMCP
from mcp.types import ToolAnnotations

server = FastMCP("workshop", instructions="Measures and counts.")
READ = ToolAnnotations(read_only_hint=True)


@server.tool(annotations=READ)
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool(annotations=READ)
def largest() -> dict:
    """Gives a number that no float holds."""
    return {"largest": 2**53 + 1}


@server.tool(annotations=READ)
async def count(to: int, ctx: Context) -> str:
    """Counts aloud."""
    for at in range(1, to + 1):
        await ctx.report_progress(at, to)
        await ctx.info(f"at {at}")
    return f"counted to {to}"


@server.tool
def build(name: str) -> str:
    """Builds something, which changes the world."""
    return f"built {name}"


@server.tool(annotations=READ)
def fail() -> str:
    """Says no."""
    raise ValueError("out of paint")


@server.tool(annotations=READ)
async def wait(seconds: float) -> str:
    """Answers late."""
    await asyncio.sleep(seconds)
    return "late"


@server.resource("workshop://bench")
def bench() -> str:
    """What lies on the bench."""
    return "a saw and a plane"


@server.prompt
def greet(name: str) -> str:
    """Greets someone."""
    return f"Greet {name}."


async def over_http():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(server.http_app(), log_level="warning")
        await uvicorn.Server(config).serve([listening])


if sys.argv[1:] == ["http"]:
    asyncio.run(over_http())
else:
    server.run(show_banner=False)
