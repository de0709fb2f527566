// The OpenAI SDK: Toolgate gives the tools, carries out what the model asks for, and gives the messages to append.

/** @type {import('../clients.js').Client} */
export const openai = {
  id: 'openai',
  label: 'OpenAI SDK',
  short: 'OpenAI SDK',
  tokenName: 'openai-sdk',
  pieces: (given) => [
    { label: 'Environment', where: 'in the shell that runs the program; OPENAI_API_KEY as ever', text: `pip install openai\nexport TOOLGATE_URL=${given.origin} TOOLGATE_TOKEN=${given.token}` },
    { label: 'agent.py', where: 'a whole program; any server that speaks Chat Completions will do', text: program(given) },
  ],
  then: 'Run python agent.py. The call stands on the record under the name of this token.',
};

const program = (/** @type {import('../clients.js').Given} */ { profile }) => `import json, os, urllib.request, openai

def gate(path, body=None):
    headers = {"Authorization": f"Bearer {os.environ['TOOLGATE_TOKEN']}", "Content-Type": "application/json"${profile ? `, "toolgate-profile": ${JSON.stringify(profile)}` : ''}}
    request = urllib.request.Request(os.environ["TOOLGATE_URL"] + path, body and body.encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)

model = openai.OpenAI()
tools = gate("/openai/v1/tools")["tools"]
messages = [{"role": "user", "content": "How long has this host been up?"}]
for _ in range(10):
    completion = model.chat.completions.create(model="gpt-5-mini", messages=messages, tools=tools)
    message = completion.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    messages += gate("/openai/v1/tool_calls", completion.model_dump_json())["messages"]
print(message.content)`;
