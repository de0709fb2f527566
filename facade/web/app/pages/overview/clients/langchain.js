// LangChain and LangGraph, over MCP.

/** @type {import('../clients.js').Client} */
export const langchain = {
  id: 'langchain',
  label: 'LangChain',
  short: 'LangChain',
  tokenName: 'langchain',
  pieces: ({ mcp, token }) => [
    { label: 'Environment', where: 'in the shell that runs the program; OPENAI_API_KEY as ever', text: `pip install langchain langchain-openai langchain-mcp-adapters\nexport TOOLGATE_TOKEN=${token}` },
    { label: 'agent.py', where: 'a whole program', text: program(mcp) },
  ],
  then: 'Run python agent.py. The call stands on the record under the name of this token.',
};

const program = (/** @type {string} */ mcp) => `import asyncio, os
from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient

async def main():
    client = MultiServerMCPClient({"toolgate": {
        "transport": "streamable_http",
        "url": "${mcp}",
        "headers": {"Authorization": f"Bearer {os.environ['TOOLGATE_TOKEN']}"},
    }})
    agent = create_agent("openai:gpt-5-mini", await client.get_tools())
    answer = await agent.ainvoke({"messages": "How long has this host been up?"})
    print(answer["messages"][-1].content)

asyncio.run(main())`;
