// The overview: what its figures say, how targets do, and configurations that clients read.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { endOf } from '../../facade/web/app/pages/access/expiry.js';
import { CLIENTS, clientOf, endpoint } from '../../facade/web/app/pages/overview/clients.js';
import { apart, called, perMinute, rates, refusedWords, slowest, ticks } from '../../facade/web/app/pages/overview/figures.js';
import { sealing } from '../../facade/web/app/sealed.js';
import { healthOf, took, worstFirst } from '../../facade/web/app/pages/overview/health.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const figures = (more) => ({
  since: '2025-12-31T00:00:00Z', stepMs: 60_000, startMs: START, calls: [4, 6, 8], failed: [0, 0, 0], refused: [0, 2, 0], refusals: [],
  tools: [['a', [4, 2, 1], [10, 30, null]], ['b', [0, 2, 3], [null, 90, 5]], ['c', [0, 1, 2], [null, 1, 2]], ['d', [0, 1, 1], [null, 7, 3]], ['e', [0, 0, 1], [null, null, 9]]]
    .map(([name, calls, p95Ms]) => ({ name, calls, p95Ms })),
  ...more,
});

test('calls per minute are those of the last sixty seconds', () => {
  const last = START + 120_000;
  for (const [into, expected] of [[0, 14], [30_000, 11], [60_000, 8], [90_000, 8]]) assert.equal(perMinute(figures(), last + into), expected, String(into));
  assert.equal(perMinute(figures({ stepMs: 10_000, calls: [1, 1, 1, 1, 1, 1, 1, 1] }), START + 75_000), 7);
  assert.equal(perMinute(figures({ calls: [] }), last), 0);
});

test('steps that nobody counted are gaps', () => {
  assert.deepEqual(rates(figures({ since: '2026-01-01T00:01:00Z' }), [0, 6, 8]), [null, 6, 8]);
  assert.deepEqual(rates(figures({ stepMs: 30_000 }), [1, 2, 0]), [2, 4, 0]);
});

test('the most called tools are told apart and the others are one', () => {
  assert.deepEqual(apart(figures(), 3).map((tool) => tool.name), ['a', 'b', 'c', '2 others']);
  assert.deepEqual(apart(figures(), 3).at(-1), { name: '2 others', calls: [0, 1, 2], p95Ms: [null, 7, 9] });
  assert.equal(apart(figures({ tools: figures().tools.slice(0, 4) }), 3).length, 4);
  assert.equal(apart(figures()).length, 5);
});

test('tools are ordered by their slowest step, refusals have their time', () => {
  assert.deepEqual(slowest(figures()).map((tool) => [tool.name, tool.p95]), [['b', 90], ['a', 30], ['e', 9], ['d', 7], ['c', 2]]);
  assert.deepEqual(ticks(figures()), [START + 60_000]);
});

test('refusals are told by their reasons, write attempts first', () => {
  const words = (...refusals) => refusedWords(refusals.map(([reason, count]) => ({ reason, count }))).map((each) => each.words).join(', ');
  assert.equal(words(['TOOL_NOT_FOUND', 9], ['WRITE_REJECTED', 1]), '1 write attempt, 9 unknown tools');
  assert.equal(words(['NEW_REASON', 2], ['RATE_LIMITED', 3], ['CREDENTIAL_INVALID', 0]), '3 over a limit, 2 new reason');
  assert.equal(words(['A', 4], ['B', 3], ['C', 2], ['D', 1]), '4 a, 3 b, 3 for 2 more reasons');
  assert.equal(words(), '');
  assert.deepEqual(['test_connection', 'ssh.x'].map(called), ['connection test', 'ssh.x']);
});

test('the record is sealed through its newest checkpoint, late only while rows wait', () => {
  const at = (seconds) => START + seconds * 1000;
  const record = { seq: '30', checkpointSeq: '12', checkpointAt: new Date(START).toISOString() };
  assert.deepEqual(sealing(record, at(60)), { seq: 12, since: 18, late: false });
  assert.equal(sealing(record, at(200)).late, true);
  assert.deepEqual(sealing({ ...record, seq: 12 }, at(9000)), { seq: 12, since: 0, late: false });
  assert.deepEqual(sealing({ seq: 3 }, at(0)), { seq: 0, since: 3, late: true });
});

test('the worst target comes first', () => {
  const target = (name, status, more) => ({ id: name, type: 'proxmox', name, status, ...more });
  const failed = { validation: { verdict: 'failed', stages: [{ name: 'reach', ok: true, ms: 3 }, { name: 'tls', ok: false, ms: 4 }], checkedAt: 'x' } };
  const all = [target('z', 'ready'), target('off', 'disabled'), target('a', 'ready'), target('f', 'ready', failed), target('gone', 'offline'), target('key', 'ready')];
  const relays = new Map([['key', { targetId: 'key', state: 'refused', mismatch: true }]]);
  assert.deepEqual(worstFirst(all, relays).map((row) => row.target.name), ['key', 'f', 'gone', 'off', 'a', 'z']);
  assert.equal(healthOf(all[3]).words, 'Failed at tls');
  assert.equal(took(all[3]), 7);
  assert.equal(took(all[0]), null);
});

const given = (origin, profile = '') => ({ origin, mcp: endpoint(origin, profile), token: 'tgk_T_s-_3', profile });

test('each client is given the address of this gateway and its token', () => {
  for (const client of CLIENTS) {
    const text = client.pieces(given('https://gate.example')).map((piece) => piece.text).join('\n');
    assert.match(text, /tgk_T_s-_3/, client.id);
    assert.match(text, /https:\/\/gate\.example/, client.id);
    for (const piece of client.pieces(given('https://gate.example'))) {
      if (piece.text.startsWith('{')) assert.doesNotThrow(() => JSON.parse(piece.text), `${client.id} ${piece.label}`);
    }
  }
  assert.equal(clientOf('nobody')?.id, 'claude');
  assert.equal(endpoint('http://h', 'a b'), 'http://h/mcp/p/a%20b');
});

test('configurations have the shape that their clients read', () => {
  const json = (id, origin = 'http://127.0.0.1:7600') => JSON.parse(clientOf(id).pieces(given(origin)).find((piece) => piece.text.startsWith('{')).text);
  assert.equal(json('claude').mcpServers.toolgate.type, 'http');
  assert.equal(json('vscode').servers.toolgate.headers.Authorization, 'Bearer ${input:toolgate}');
  assert.equal(json('cursor').mcpServers.toolgate.url, 'http://127.0.0.1:7600/mcp');
  const desktop = (origin, profile) => clientOf('claude-desktop').pieces(given(origin, profile)).map((piece) => JSON.parse(piece.text).mcpServers.toolgate);
  const bridge = (origin) => desktop(origin)[1].args.includes('--allow-http');
  assert.deepEqual(desktop('http://127.0.0.1:7600')[0].args, ['mcp', '--core', 'http://127.0.0.1:7601']);
  assert.deepEqual(desktop('https://gate.lan', 'hosts')[0].args, ['mcp', '--core', 'https://gate.lan:7601', '--tool-profile', 'hosts']);
  assert.deepEqual([bridge('http://127.0.0.1:7600'), bridge('http://gate.lan'), bridge('https://gate.lan')], [false, true, false]);
});

test('the guide and the page give the same configurations', () => {
  const guide = fs.readFileSync(new URL('../../docs/guide.md', import.meta.url), 'utf8').split('## Connect a client')[1].split('\n## ')[0];
  /** The first block of a client's part in the guide. */
  const written = (client) => guide.split(`**${client}**`)[1].match(/```\w+\n([^]*?)```/)[1].trim();
  const offered = (id, token = 'tgk_…') =>
    clientOf(id).pieces({ origin: 'https://gate.example.org', mcp: 'https://gate.example.org/mcp', token, profile: '' }).map((piece) => piece.text);
  for (const [id, client] of [['claude-desktop', 'Claude Desktop'], ['vscode', 'VS Code'], ['cursor', 'Cursor']]) {
    assert.deepEqual(JSON.parse(offered(id)[0]), JSON.parse(written(client)), client);
  }
  assert.equal(offered('codex')[0], written('Codex'));
  assert.equal(`$ ${offered('claude', '$TOOLGATE_TOKEN')[0].replace(' \\\n ', '')}`, written('Claude Code'));
  const lines = (text) => text.split('\n').map((line) => line.trim());
  const program = lines(offered('langchain')[1]);
  const server = lines(written('LangChain')).filter((line) => /^("|from )/.test(line));
  assert.ok(server.length >= 4);
  for (const line of server) assert.ok(program.includes(line), line);
});

test('a token ends as it was chosen, or never', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  assert.deepEqual(endOf('90', now), { expiresAt: '2026-04-01T00:00:00.000Z' });
  assert.deepEqual(endOf('', now), {});
});
