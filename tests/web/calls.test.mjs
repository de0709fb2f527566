// What the page that calls tools makes of events, arguments and answers. Nothing here draws.
import assert from 'node:assert/strict';
import test from 'node:test';
import { exactNumber, isExact, parseExact, writeExact } from '../../facade/web/app/exact.js';
import { variants } from '../../facade/web/app/pages/test-call/copy.js';
import { argumentsOf, emptyDraft, errorsOf, toggled, withoutTarget } from '../../facade/web/app/pages/test-call/form.js';
import { fromQuery, hrefOf, toQuery } from '../../facade/web/app/pages/test-call/link.js';
import { age, joined, targetOf, textOf } from '../../facade/web/app/pages/test-call/outcome.js';
import { fresh, heard, over } from '../../facade/web/app/pages/test-call/state.js';
import { columnsOf, listIn } from '../../facade/web/app/pages/test-call/views/anything.js';
import { ordered } from '../../facade/web/app/pages/test-call/views/order.js';
import { near } from '../../facade/web/app/pages/tools/near.js';
import { exampleOf } from '../../facade/web/app/pages/tools/example.js';
import { grouped, summary, toolsTold, wantedOf } from '../../facade/web/app/pages/tools/groups.js';

/** A state without the library that draws. */
const stateOf = (value) => ({ value, peek() { return this.value; } });
const event = (id, name, data) => ({ id: `01CALL-${id}`, event: name, data, text: JSON.stringify(data) });
const CALLED = { name: 'proxmox.list_vms', adapterType: 'proxmox', freshness: 'inventory', writes: false };
const raw = typeof JSON.rawJSON === 'function' ? test : test.skip;

raw('a number that would be rounded keeps its digits from the answer to the request', () => {
  const text = '{"id":9007199254741039,"small":7,"share":0.05,"big":-9223372036854775808}';
  const value = parseExact(text);
  assert.ok(isExact(value.id));
  assert.equal(value.small, 7);
  assert.equal(writeExact(value), text);
  assert.equal(writeExact({ run: exactNumber('9007199254741039'), limit: exactNumber('10') }), '{"run":9007199254741039,"limit":10}');
});

test('a call goes from its first event to its end', () => {
  const state = stateOf(fresh(CALLED, {}, null));
  heard(state, event(1, 'tool_result', { content: [{ type: 'text', text: 'a' }], structuredContent: { vms: [] }, isError: false, _meta: {} }));
  assert.ok(!over(state));
  heard(state, event(2, 'tool_result', { content: [{ type: 'text', text: 'b' }], isError: false }));
  heard(state, event(3, 'done', { durationMs: 12 }));
  assert.deepEqual([state.value.phase, state.value.took, textOf(state.value.outcome)], ['answered', 12, 'a\nb']);
  assert.deepEqual(state.value.outcome.structuredContent, { vms: [] });
  assert.deepEqual(state.value.lines.map((line) => line.text), ['tool_result', 'tool_result', 'done']);
});

test('an event of an error ends a call, and one of them is no failure', () => {
  const ended = (reason) => {
    const state = stateOf(fresh(CALLED, {}, null));
    heard(state, event(1, 'error', { status: 504, title: 'late', reason }));
    return [state.value.phase, state.value.problem.reason];
  };
  assert.deepEqual(ended('UPSTREAM_TIMEOUT'), ['failed', 'UPSTREAM_TIMEOUT']);
  assert.deepEqual(ended('CANCELLED'), ['cancelled', 'CANCELLED']);
});

test('only an answer out of the cache has an age, and it grows', () => {
  const cached = { content: [], isError: false, _meta: { 'toolgate/cachedAt': '2026-01-01T00:00:00Z', 'toolgate/ageSeconds': 12 } };
  assert.equal(age(cached, 0), 12);
  assert.equal(age(cached, 3400), 15);
  assert.equal(age({ content: [], isError: false, _meta: { 'toolgate/target': { id: 'x', name: 'lab' } } }, 3400), null);
  assert.deepEqual(targetOf(joined(null, { content: [], isError: false, _meta: { 'toolgate/target': { id: 'x', name: 'lab' } } })), { id: 'x', name: 'lab' });
});

test('arguments are the same as fields and as raw JSON', () => {
  const fields = { ...emptyDraft(), value: { node: 'pve1', type: undefined, status: '' } };
  assert.deepEqual(argumentsOf(fields).args, { node: 'pve1' });
  const text = toggled(fields, true);
  assert.deepEqual(JSON.parse(text.raw), { node: 'pve1' });
  assert.deepEqual(toggled({ ...text, raw: '{"node":"pve2"}' }, false).value, { node: 'pve2' });
  const broken = { ...text, raw: '{"node":' };
  assert.match(argumentsOf(broken).error, /not JSON/);
  assert.equal(toggled(broken, false).raw, '{"node":', 'text that is no object stays');
  assert.match(argumentsOf({ ...text, raw: '[1]' }).error, /one JSON object/);
  assert.deepEqual(Object.keys(withoutTarget({ properties: { target_id: {}, node: {} } }).properties), ['node']);
});

test('what the schema refuses stands at its field', () => {
  const problem = (violations) => ({ reason: 'ARGUMENTS_INVALID', violations });
  assert.deepEqual(errorsOf(problem([
    { pointer: '/vmid', keyword: 'minimum', message: 'value is less than the minimum of 1' },
    { pointer: '', keyword: 'required', message: '"node" is a required property' },
  ])), { '/vmid': 'value is less than the minimum of 1', '/node': 'this one is needed' });
  assert.deepEqual(errorsOf({ reason: 'RATE_LIMITED', violations: [] }), {});
  assert.deepEqual(errorsOf(null), {});
});

test('an address carries a call there and back', () => {
  const args = { owner: 'acme', repo: 'a&b' };
  const { tool, target, args: back } = fromQuery(new URL(hrefOf('github.list_repos', args, '01T'), 'http://x').searchParams);
  assert.deepEqual([tool, target, back], ['github.list_repos', '01T', args]);
  assert.equal(toQuery('t', '', {}).arguments, null);
  assert.equal(toQuery('t', '', { text: 'x'.repeat(5000) }).arguments, null, 'too long for an address');
  for (const text of ['{', '[]', '7', 'null']) assert.deepEqual(fromQuery(new URLSearchParams({ arguments: text })).args, {});
});

test('each dialect says the same call, and a shell reads it as it is', () => {
  const asked = { name: 'proxmox.list_vms', functionName: 'proxmox_list_vms', args: { node: "it's" }, target: '01T' };
  const said = Object.fromEntries(variants(asked, 'http://127.0.0.1:7600').map(({ id, text }) => [id, text]));
  assert.match(said.curl, /\/api\/mcp\/invoke[^]*prefer: wait[^]*"targetId":"01T"/);
  assert.match(said.grpcurl, /^grpcurl -plaintext [^]*toolgate-target-id: 01T[^]*toolgate\.tools\.v1\.ProxmoxService\/ListVms$/);
  assert.match(said.mcp, /\/mcp [^]*mcp-name: proxmox_list_vms[^]*"target_id":"01T"/);
  assert.match(said.openai, /\/openai\/v1\/tool_calls[^]*"tool_calls":\[/);
  for (const text of Object.values(said)) {
    assert.match(text, /\$TOOLGATE_TOKEN/);
    assert.ok(text.includes("it'\\''s"), text);
  }
  const [, grpc] = variants({ ...asked, name: 'search_entities', args: { q: 'ü' } }, 'https://gate.example');
  assert.doesNotMatch(grpc.text, /-plaintext/);
  assert.match(grpc.text, /"arguments":"eyJxIjoiw7wifQ=="[^]*BrokerService\/Call$/);
});

test('a list is found in an answer where there is just one', () => {
  assert.deepEqual(listIn({ vms: [{ a: 1 }], more: false }), { name: 'vms', rows: [{ a: 1 }] });
  for (const none of [{ a: [{}], b: [{}] }, { a: [1, 2] }, 'text', null, { a: 1 }]) assert.equal(listIn(none), null);
  assert.deepEqual(columnsOf([{ id: 1, name: 'x', inner: {} }, { other: true }]).map(({ key }) => key), ['id', 'name', 'other']);
});

test('an example holds what a schema requires, and no more', () => {
  const schema = { required: ['owner', 'limit', 'items', 'kind'], properties: {
    owner: { type: 'string', examples: ['acme'] }, limit: { type: 'integer', minimum: 3 }, optional: { type: 'string' },
    items: { type: 'array', items: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } }, kind: { enum: ['a', 'b'] },
  } };
  assert.deepEqual(exampleOf(schema), { owner: 'acme', limit: 3, items: [{ text: 'text' }], kind: 'a' });
  assert.deepEqual(exampleOf({}), {});
});

test('the registry is grouped by subject, infrastructure first, and narrowed by what is asked', () => {
  const tool = (name, more) => ({ name, functionName: name, title: name, description: '', adapterType: 'agent-memory', effect: 'read', state: 'listed', disabled: false, ...more });
  const tools = [
    tool('query', { group: 'memory' }), tool('ssh.run', { adapterType: 'ssh' }), tool('proxmox.list', { adapterType: 'proxmox', disabled: true, state: 'disabled' }),
    tool('create_edge', { group: 'memory', effect: 'write', state: 'read_only' }),
  ];
  assert.deepEqual(grouped(tools).map(({ id, infrastructure }) => [id, infrastructure]), [['proxmox', true], ['ssh', true], ['memory', false]]);
  const names = (wanted) => wantedOf(tools, { q: '', show: '', of: '', ...wanted }).map(({ name }) => name);
  assert.deepEqual(names({ show: 'off' }), ['proxmox.list']);
  assert.deepEqual(names({ show: 'write' }), ['create_edge']);
  assert.deepEqual(names({ show: 'hidden' }), ['proxmox.list', 'create_edge']);
  assert.deepEqual(names({ q: 'edge create', of: 'memory' }), ['create_edge']);
  assert.equal(summary(tools), '2 listed, 1 off, 1 hidden: back end is read only');
});

test('rows stand in the order of a column, those without a value last', () => {
  const rows = [{ n: 10 }, { n: 9 }, {}, { n: 100 }];
  const by = (row) => row.n;
  assert.deepEqual(ordered(rows, by, false).map(by), [9, 10, 100, undefined]);
  assert.deepEqual(ordered(rows, by, true).map(by), [100, 10, 9, undefined]);
  assert.deepEqual(ordered([{ n: 'b10' }, { n: 'B9' }], by, false).map(by), ['B9', 'b10']);
  assert.equal(ordered(rows, undefined, true), rows);
});

test('a name that nobody has leads to those near to it', () => {
  const names = ['proxmox.list_vms', 'proxmox.get_vm_status', 'ssh.run_whitelisted_command', 'query', 'task_get', 'repo_list'];
  const cases = [
    ['proxmox.list_vm', ['proxmox.list_vms', 'proxmox.get_vm_status']], ['proxmox_list_vms', ['proxmox.list_vms']], ['ssh.delete', ['ssh.run_whitelisted_command']],
    ['taskget', ['task_get']], ['Qeury', ['query']], ['zzzzzzzz', []], ['', []],
  ];
  for (const [asked, expected] of cases) assert.deepEqual(near(asked, names), expected, asked);
});

test('tools of a profile are counted apart from those that projects bring', () => {
  assert.equal(toolsTold(['task_get', 'repo_list', 'project.*']), '2 tools and those of projects');
  assert.equal(toolsTold(['task_get']), '1 tool');
  const tool = (adapterType, targets) => ({ adapterType, targets, state: 'listed' });
  assert.equal(summary([tool('github', 0), tool('github', 0)]), '2 listed, no target yet');
  assert.equal(summary([tool('github', 1)]), '1 listed');
  assert.equal(summary([tool('fleet', 0)]), '1 listed');
});
