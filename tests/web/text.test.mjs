// Addresses, commands, words and figures of the pages.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { changed, read, safeNext } from '../../facade/web/app/address.js';
import { ranked } from '../../facade/web/app/frame/ranked.js';
import { ago, bytes, duration } from '../../facade/web/app/reading.js';
import { unused } from '../../facade/web/app/pages/access/use.js';
import { codeIn } from '../../facade/web/app/pages/sign-in/code.js';
import { nextStep, sentence } from '../../facade/web/app/refusals.js';
import { curlText, quoted } from '../../facade/web/app/shell-text.js';
import { shown, visible } from '../../facade/web/app/visible.js';

test('an address is its parts and its query', () => {
  const { path, parts, query } = read('/tools/github.list_repos%2Fx?a=1&b=two%20words');
  assert.equal(path, '/tools/github.list_repos%2Fx');
  assert.deepEqual(parts, ['tools', 'github.list_repos/x']);
  assert.equal(query.get('b'), 'two words');
  assert.deepEqual(read('/%E0%A4%A').parts, ['%E0%A4%A']);
});

test('a query changes in parts', () => {
  assert.equal(changed('/audit?tool=a&seq=4', { tool: 'b c', seq: null }), '/audit?tool=b+c');
  assert.equal(changed('/audit?tool=a', { tool: '' }), '/audit');
});

test('signing in leads to pages of ours only', () => {
  const cases = {
    '/audit?seq=4': '/audit?seq=4', '//evil.example': '/', '/\\evil.example': '/', 'https://evil.example/': '/',
    'javascript:alert(1)': '/', '': '/', '/sign-in?next=/sign-in': '/', '/\t/evil.example': '/', '/..//evil.example/x': '/', '/.//evil.example': '/', '/%2e%2e//evil.example': '/', '/a/../audit': '/audit',
  };
  for (const [asked, expected] of Object.entries(cases)) {
    assert.equal(safeNext(asked), expected, asked);
  }
});

test('what is given to sign in is a code, a link with one, or told by its kind', () => {
  const code = { code: 'tgl_01A_b-c' };
  const cases = [
    ['tgl_01A_b-c', code], ['  tgl_01A_b-c\n', code], ['http://127.0.0.1:7600/sign-in#code=tgl_01A_b-c', code], ['Open http://h/sign-in#code=tgl_01A_b-c now', code],
    ['', { not: 'empty_code' }], [' \n', { not: 'empty_code' }], ['tgk_01A_x', { not: 'api_token' }], ['http://h/sign-in#code=tgk_01A', { not: 'api_token' }],
    ['tgs_01A_x', { not: 'no_code' }], ['hello', { not: 'no_code' }], ['http://h/sign-in', { not: 'no_code' }],
  ];
  for (const [given, expected] of cases) assert.deepEqual(codeIn(given), expected, given);
});

test('a token without a use was never used only where uses are told', () => {
  const used = { lastUsedAt: '2026-01-01T00:00:00Z' };
  assert.deepEqual([[used, {}], [{}, {}], [], undefined].map(unused), ['never', 'not known', 'not known', 'not known']);
});

test('a shell reads back what was quoted', () => {
  const texts = ['plain', "it's", '$HOME `id` "q" \\', 'line\nbreak', '', "''", 'ä€😀', '-n', '!!', '*?[a]{b,c}~#;&|<>()'];
  for (const text of texts) {
    assert.equal(execFileSync('sh', ['-c', `printf %s ${quoted(text)}`]).toString(), text);
  }
});

test('a curl command says what is asked and nothing more', () => {
  assert.equal(curlText('http://127.0.0.1:7600', 'GET', '/api/tokens?pageSize=5'), "curl -sS 'http://127.0.0.1:7600/api/tokens?pageSize=5' \\\n  -H \"Authorization: Bearer $TOOLGATE_TOKEN\"");
  assert.match(curlText('http://h', 'DELETE', '/api/tokens/1'), /^curl -sS -X DELETE http:\/\/h\/api\/tokens\/1 /);
  const post = curlText('http://h', 'POST', '/api/mcp/invoke', { name: "it's" }, ['Prefer: wait']);
  assert.doesNotMatch(post, /-X/);
  assert.match(post, /-H 'Prefer: wait'/);
  assert.match(post, /--json '\{"name":"it'\\''s"\}'$/);
});

test('a refusal says what happened, why and what next', () => {
  const step = nextStep({ reason: 'RATE_LIMITED', detail: 'more than 60 calls a minute', retryAfter: 4 });
  assert.deepEqual([step.what, step.why, step.next, step.state], ['Too many calls.', 'More than 60 calls a minute.', 'Try again in 4 s.', 'warn']);
  assert.equal(nextStep({ reason: 'NEW_WORD', title: 'something new' }).what, 'Something new.');
  assert.equal(nextStep(new Error('boom')).why, 'Boom.');
  assert.equal(sentence(' done! '), 'Done!');
});

test('times and sizes are read at a glance', () => {
  const now = Date.parse('2026-01-02T12:00:00Z');
  const cases = [[0, 'just now'], [12, '12 s ago'], [89, '89 s ago'], [300, '5 min ago'], [7200, '2 h ago'], [9 * 86400, '9 d ago'], [-60 * 86400, 'in 60 d']];
  for (const [seconds, text] of cases) assert.equal(ago(now - seconds * 1000, now), text);
  assert.equal(ago(Number.NaN, now), 'unknown');
  assert.deepEqual([0, 0.4, 7, 1234, 61000, null].map(duration), ['0 ms', '< 1 ms', '7 ms', '1.2 s', '61 s', '–']);
  assert.deepEqual([0, 1023, 1536, 5 << 20].map(bytes), ['0 B', '1023 B', '1.5 KiB', '5.0 MiB']);
});

test('what begins with the words comes first, and every word must be found', () => {
  const all = ['proxmox.get_vm_status', 'proxmox.list_vms', 'list_everything', 'github.list_repos'].map((label) => ({ label }));
  assert.deepEqual(ranked(all, 'list vm').map(({ label }) => label), ['proxmox.list_vms']);
  assert.equal(ranked(all, 'list')[0].label, 'list_everything');
  assert.equal(ranked(all, '').length, 4);
});

test('what would change how a text is read is shown by its number', () => {
  const cases = [
    ['exe.\u202egnp', 'exe.\\u{202e}gnp'], ['a\u0000b\u001b[31m', 'a\\u{0000}b\\u{001b}[31m'], ['\u{e0041}x\ufeff', '\\u{e0041}x\\u{feff}'],
    ['tab\tand\nline', 'tab\tand\nline'], ['نص فارسی می\u200cخواهم', 'نص فارسی می\u200cخواهم'], ['👩\u200d🚀', '👩\u200d🚀'],
  ];
  for (const [text, seen] of cases) assert.equal(visible(text), seen);
  const element = { type: 'b' };
  assert.deepEqual(shown(['\u202e', [element, 7, null]]), ['\\u{202e}', [element, 7, null]]);
  assert.equal(shown(element), element);
});
