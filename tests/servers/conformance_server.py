"""What the official conformance suite asks a server for, in FastMCP over HTTP on a port that it prints.

It stands for a project that can do everything: prompts, resources, completion, sampling, elicitation, progress and logs.
"""

import asyncio
import base64
import json
import socket

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.prompts import Message
from mcp import types
from pydantic import BaseModel, Field

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="

server = FastMCP("conformance")


def text(words):
    return types.TextContent(type="text", text=words)


def picture():
    return types.ImageContent(type="image", data=PICTURE, mime_type="image/png")


def embedded(uri, words, kind="text/plain"):
    inside = types.TextResourceContents(uri=uri, mime_type=kind, text=words)
    return types.EmbeddedResource(type="resource", resource=inside)


def tool(function):
    return server.tool(output_schema=None)(function)


@tool
def test_simple_text():
    """Gives a text."""
    return [text("This is a simple text response for testing.")]


@tool
def test_image_content():
    """Gives a picture."""
    return [picture()]


@tool
def test_audio_content():
    """Gives a sound."""
    return [types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")]


@tool
def test_embedded_resource():
    """Gives a resource."""
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@tool
def test_multiple_content_types():
    """Gives a text, a picture and a resource."""
    mixed = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [text("Multiple content types test:"), picture(), mixed]


@tool
def test_error_handling():
    """Says no."""
    raise ValueError("This tool intentionally returns an error for testing")


async def say(ctx):
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(line)
        await asyncio.sleep(0.05)
    return [text("said")]


@tool
async def test_tool_with_logging(ctx: Context):
    """Says what it does."""
    return await say(ctx)


@tool
async def test_logging_tool(ctx: Context):
    """Says what it does."""
    return await say(ctx)


@tool
async def test_tool_with_progress(ctx: Context):
    """Tells how far it is."""
    for at in (0, 50, 100):
        await ctx.report_progress(at, 100)
        await asyncio.sleep(0.05)
    return [text("done")]


@tool
async def test_sampling(prompt: str, ctx: Context):
    """Asks the client's model."""
    message = types.SamplingMessage(role="user", content=text(prompt))
    answer = await ctx.session.create_message([message], max_tokens=100)
    return [text(f"LLM response: {answer.content.text}")]


class Reply(BaseModel):
    """What a user is asked for."""

    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class Defaults(BaseModel):
    """One of each primitive, each with a default."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: str = Field("active", json_schema_extra={"enum": ["active", "inactive", "pending"]})
    verified: bool = True


def choices(**schema):
    return Field(json_schema_extra=schema)


def titled(pairs):
    return [{"const": const, "title": title} for const, title in pairs]


VALUES = ["option1", "option2", "option3"]
TITLED = titled((value, value.title()) for value in ("value1", "value2", "value3"))


class Enums(BaseModel):
    """Each way of writing an enumeration."""

    untitledSingle: str = choices(enum=VALUES)
    titledSingle: str = choices(oneOf=TITLED)
    legacyEnum: str = choices(enum=["opt1", "opt2", "opt3"], enumNames=["One", "Two", "Three"])
    untitledMulti: list[str] = choices(items={"type": "string", "enum": VALUES})
    titledMulti: list[str] = choices(items={"anyOf": TITLED})


async def elicited(ctx, message, schema):
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema.model_json_schema())
    answer = await ctx.session.send_request(types.ElicitRequest(params=params), types.ElicitResult)
    return [text(f"action={answer.action}, content={json.dumps(answer.content or {})}")]


@tool
async def test_elicitation(message: str, ctx: Context):
    """Asks the user."""
    return await elicited(ctx, message, Reply)


@tool
async def test_elicitation_sep1034_defaults(ctx: Context):
    """Asks the user, with defaults."""
    return await elicited(ctx, "Please fill in", Defaults)


@tool
async def test_elicitation_sep1330_enums(ctx: Context):
    """Asks the user, with enumerations."""
    return await elicited(ctx, "Please choose", Enums)


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """A picture."""
    return base64.b64decode(PICTURE)


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """A text that may change."""
    return "Watched resource content"


@server.resource("test://template/{id}/data", mime_type="application/json")
def of_template(id: str) -> str:
    """A text for each id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.prompt
def test_simple_prompt() -> str:
    """Says something."""
    return "This is a simple prompt for testing."


@server.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Says what it is given."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:
    """Shows a resource."""
    shown = embedded(resourceUri, "Embedded resource content for testing.")
    return [Message(shown), Message("Please process the embedded resource above.")]


@server.prompt
def test_prompt_with_image() -> list[Message]:
    """Shows a picture."""
    return [Message(picture()), Message("Please analyze the image above.")]


@server.completion
async def complete(ref, argument, context):
    """Completes nothing."""
    return []


async def taken(_context, _params):
    return types.EmptyResult()


for method, params in {
    "resources/subscribe": types.SubscribeRequestParams,
    "resources/unsubscribe": types.UnsubscribeRequestParams,
}.items():
    server._mcp_server.add_request_handler(method, params, taken)


async def main():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(server.http_app(), log_level="warning")
        await uvicorn.Server(config).serve([listening])


asyncio.run(main())
