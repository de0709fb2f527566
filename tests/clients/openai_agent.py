"""An agent of the OpenAI SDK and the Python SDK of MCP: the arguments of `told`, with chat, stream or
responses for the mode, and the URL of the model before the target.

Tells the model to call the tool, carries out over MCP what it calls, and goes on until it speaks. Tells the whole transcript
and the answer.
"""

import asyncio
import json
import os

import told
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from openai import OpenAI

ROUNDS = 12
MODEL = "mock"
QUESTION = f"Call {told.TOOL} with {json.dumps(told.GOOD)}, and say what it tells."
MODEL_URL, *SERVER = told.TARGET


async def main():
    if SERVER[0].startswith("http"):
        async with create_mcp_http_client(headers=told.headers()) as http:
            await run(streamable_http_client(SERVER[0], http_client=http))
    else:
        await run(StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=dict(os.environ)))


async def run(server):
    model = OpenAI(base_url=MODEL_URL, api_key="none", max_retries=0, timeout=20)
    async with Client(server) as client:
        listed = (await client.list_tools()).tools
        agent = Responses(model, listed) if told.MODE == "responses" else Chat(model, listed, told.MODE == "stream")
        answer = None
        for _ in range(ROUNDS):
            calls, answer = agent.ask()
            if not calls:
                break
            # All of them at once, as the model wanted them.
            for call, text in zip(calls, await asyncio.gather(*(carry_out(client, call) for call in calls))):
                agent.hear(call, text)
        told.tell(
            {
                "form": told.MODE,
                "revision": client.protocol_version,
                "tools": [tool.name for tool in listed],
                "transcript": agent.history,
                "answer": answer,
            }
        )


async def carry_out(client, call):
    """What a tool message says: the data as JSON, or why there is none."""
    try:
        outcome = await client.call_tool(call["name"], json.loads(call["arguments"]))
    except json.JSONDecodeError as error:
        return json.dumps({"error": f"the arguments are no JSON: {error}"})
    except MCPError as error:
        return json.dumps({"error": error.error.message})
    text = "\n".join(block.text for block in outcome.content)
    if outcome.is_error:
        return json.dumps({"error": text})
    return json.dumps(outcome.structured_content) if outcome.structured_content else text


class Chat:
    """Chat Completions, whole or streamed."""

    def __init__(self, model, listed, streams):
        self.model, self.streams = model, streams
        self.history = [{"role": "user", "content": QUESTION}]
        self.tools = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
            }
            for tool in listed
        ]

    def ask(self):
        asked = {"model": MODEL, "messages": self.history, "tools": self.tools}
        if self.streams:
            with self.model.chat.completions.stream(**asked) as stream:
                for _ in stream:
                    pass
                choice = stream.get_final_completion().choices[0]
        else:
            choice = self.model.chat.completions.create(**asked).choices[0]
        message = choice.message
        calls = [
            {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
            for call in message.tool_calls or []
        ]
        assert choice.finish_reason == ("tool_calls" if calls else "stop"), choice
        said = {"role": "assistant", "content": message.content}
        if calls:
            said["tool_calls"] = [
                {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}
                for call in calls
            ]
        self.history.append(said)
        return calls, message.content

    def hear(self, call, text):
        self.history.append({"role": "tool", "tool_call_id": call["id"], "content": text})


class Responses:
    """The Responses API, streamed."""

    def __init__(self, model, listed):
        self.model = model
        self.history = [{"role": "user", "content": QUESTION}]
        self.tools = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,
            }
            for tool in listed
        ]

    def ask(self):
        with self.model.responses.stream(model=MODEL, input=self.history, tools=self.tools) as stream:
            for _ in stream:
                pass
            response = stream.get_final_response()
        calls = []
        for item in response.output:
            if item.type == "function_call":
                calls.append({"id": item.call_id, "name": item.name, "arguments": item.arguments})
                self.history.append(
                    {
                        "type": "function_call",
                        "id": item.id,
                        "call_id": item.call_id,
                        "name": item.name,
                        "arguments": item.arguments,
                    }
                )
        if not calls:
            self.history.append({"role": "assistant", "content": response.output_text})
        return calls, response.output_text

    def hear(self, call, text):
        self.history.append({"type": "function_call_output", "call_id": call["id"], "output": text})


asyncio.run(main())
