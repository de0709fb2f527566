// The page of the record: filters in the address, the chain with its gaps, and the proof of a row.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { decode, differences, lengths } from '../../facade/web/app/pages/audit/canonical.js';
import { merge, weave } from '../../facade/web/app/pages/audit/chain.js';
import { microseconds, rooted, signedBy } from '../../facade/web/app/pages/audit/checkpoint.js';
import { isMinute, often } from '../../facade/web/app/pages/audit/events.js';
import { any, none, read, toParams, toSearch, wider } from '../../facade/web/app/pages/audit/filters.js';
import { guess } from '../../facade/web/app/pages/audit/guess.js';
import { genesis, hex, rowHash, unbase64, unhex } from '../../facade/web/app/pages/audit/hash.js';

/** The row that docs/audit.md shows whole. */
const documented = JSON.parse(/^\{"seq":1,"event".*\}$/m.exec(readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8'))[0]);
const rows = (...seqs) => seqs.map((seq) => ({ seq }));
const told = (links) => links.map((link) => (link.kind === 'row' ? link.row.seq : link.kind === 'gap' ? `-${link.rows}` : `#${link.seq}`)).join(' ');

test('the documented row has the hash that is recomputed here', async () => {
  const { tenantId, algorithm, seq, prev, bytes, hash } = documented;
  const sealed = { tenantId, algorithm, seq, prev: unhex(prev), bytes: unbase64(bytes) };
  assert.equal(hex(await rowHash(sealed)), hash);
  assert.equal(hex(await genesis(tenantId)), prev);
  for (const other of [{ seq: 2 }, { algorithm: 2 }, { tenantId: 'x' }, { prev: unhex(hash) }, { bytes: unbase64(bytes).fill(7, 40, 41) }]) {
    assert.notEqual(hex(await rowHash({ ...sealed, ...other })), hash, JSON.stringify(Object.keys(other)));
  }
});

test('the bytes of a row say what the row says', () => {
  const found = decode(unbase64(documented.bytes));
  assert.ok('fields' in found);
  assert.deepEqual(differences(found.fields, documented), []);
  assert.deepEqual(found.fields.map((field) => field.name).at(-1), 'detail');
  assert.deepEqual(lengths(found.fields)[0], [1, 5]);
  for (const [name, value] of [['principal', 'eve'], ['time', '2026-01-01T00:00:00.000002Z'], ['durationMs', 13], ['result', 'failure']]) {
    assert.equal(differences(found.fields, { ...documented, [name]: value }).length, 1, name);
  }
});

test('bytes that are no row are told and never read past their end', () => {
  const bytes = unbase64(documented.bytes);
  assert.ok('fault' in decode(new Uint8Array()));
  assert.ok('fault' in decode(Uint8Array.of(2, ...bytes.subarray(1))));
  for (let end = 1; end < bytes.length; end += 1) assert.ok('fault' in decode(bytes.subarray(0, end)), String(end));
  assert.ok('fault' in decode(Uint8Array.of(...bytes, 0)));
});

test('what a filter hides leaves a gap', () => {
  const cases = [
    [rows(9, 8, 7), { head: 9 }, '9 8 7'],
    [rows(9, 5), { head: 9 }, '9 -3 5'],
    [rows(9, 8), { head: 12 }, '-3 9 8'],
    [rows(9, 8), { head: 9, end: true }, '9 8 -7'],
    [rows(2, 1), { head: 2, end: true }, '2 1'],
    [rows(9, 8, 7), { head: 9, checkpoint: { seq: 8, at: '' } }, '9 #8 8 7'],
    [rows(9, 8), { head: 9, checkpoint: { seq: 9, at: '' } }, '#9 9 8'],
    [rows(9, 4), { head: 9, checkpoint: { seq: 6, at: '' } }, '9 -4 #6 4'],
    [rows(9, 8), { head: 9, checkpoint: { seq: 3, at: '' } }, '9 8'],
    [[], { head: 9, end: true }, ''],
  ];
  for (const [given, known, expected] of cases) assert.equal(told(weave(given, known)), expected);
});

test('rows that come twice stand once, newest first', () => {
  assert.deepEqual(merge(rows(5, 3), rows(6, 5, 4)).map((row) => row.seq), [6, 5, 4, 3]);
});

test('filters are read from the address and asked of the API', () => {
  const filters = read(new URLSearchParams('target=T&tool=a.b&last=1h&since=2026-01-01T00:00:00Z&other=x'));
  assert.equal(filters.targetId, 'T');
  assert.equal(filters.since, '', 'a span takes the place of a range');
  assert.deepEqual(toParams(filters, Date.parse('2026-01-01T12:00:00Z')), { targetId: 'T', tool: 'a.b', since: '2026-01-01T11:00:00.000Z' });
  assert.equal(read(new URLSearchParams('last=9y')).last, '');
  assert.equal(any(none()), false);
  assert.deepEqual(read(new URLSearchParams(toSearch(filters))), filters);
});

test('an empty answer offers a wider time', () => {
  const cases = { 'last=15m': '24h', 'last=1h': '24h', 'last=24h': '30d', 'last=30d': '', 'since=2026-01-01T00:00:00Z': '', 'tool=a': null };
  for (const [query, expected] of Object.entries(cases)) assert.equal(wider(read(new URLSearchParams(query))), expected, query);
});

test('a search says what it takes the text for', () => {
  const targets = [{ id: '01KDVDNTR00000000000000003', name: 'lab' }];
  const cases = {
    'ssh.run_whitelisted_command': ['tool', 'ssh.run_whitelisted_command'], 'x.y_z': ['tool', 'x.y_z'], code_search: ['tool', 'code_search'],
    lab: ['targetId', targets[0].id], refused: ['result', 'refused'], 'token.created': ['event', 'token.created'],
    '01kdvdntr00000000000000004': ['correlationId', '01KDVDNTR00000000000000004'], 'ada@example': ['principal', 'ada@example'],
    'by: refused': ['principal', 'refused'], 'on:lab': ['targetId', targets[0].id], 'id: x': ['correlationId', 'x'],
  };
  for (const [typed, [key, value]] of Object.entries(cases)) {
    const found = guess(typed, targets, ['code_search']);
    assert.deepEqual([found?.key, found?.value], [key, value], typed);
  }
  assert.equal(guess('  ', targets, []), null);
});

/** The lines of the documented round, and the key that signed them. */
const line = (type) => JSON.parse(new RegExp(`^\\{"type":"${type}".*\\}$`, 'm').exec(readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8'))[0]);

test('the documented checkpoint is signed by the documented key', async () => {
  const [key, checkpoint] = [line('key'), line('checkpoint')];
  assert.equal(await signedBy(checkpoint, key), true);
  assert.equal(await rooted([key]), true);
  for (const other of [{ seq: 4 }, { count: 4 }, { time: '2026-01-01T00:00:00.000002Z' }, { tenantId: 'x' }, { hash: 'ac'.repeat(32) }, { origin: 'x' }, { keyId: 'x' }]) {
    assert.equal(await signedBy({ ...checkpoint, ...other }, key), false, JSON.stringify(other));
  }
  assert.equal(await rooted([]), false);
  assert.equal(await rooted([{ ...key, number: 2 }]), false);
  assert.equal(await rooted([key, key]), false, 'a second key signs by the first');
});

test('times are signed to the microsecond', () => {
  const cases = { '1970-01-01T00:00:00.000001Z': 1n, '2026-01-01T00:00:00Z': 1767225600000000n, '2026-01-01T00:00:00.5Z': 1767225600500000n };
  for (const [time, expected] of Object.entries(cases)) assert.equal(microseconds(time), expected, time);
});

test('a row that was counted stands for its minute, any other for its moment', () => {
  const row = (result, detail) => ({ seq: 1, event: 'request.refused', time: '2026-01-01T21:24:00Z', result, detail });
  assert.deepEqual([row('refused', { count: 2 }), row('refused', { count: 1 }), row('refused'), row('success', { count: 2 })].map(isMinute), [true, true, false, false]);
  assert.deepEqual([1, 2, 1234].map(often), ['once', '2 times', '1,234 times']);
});
