// What the page of the fleet makes of projects, events and lists of tools that changed.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isStale, median, standing, told, withPipeline } from '../../facade/web/app/pages/fleet/project.js';
import { compared, laidOut } from '../../facade/web/app/pages/fleet/text-diff.js';

test('a relay is what it does, and a foreign key comes first', () => {
  const cases = { live: 'live', silent: 'silent', server_down: 'server down', offline: 'offline', waiting: 'waits for its relay', locked: 'key in use twice', disabled: 'switched off', tomorrow: 'tomorrow' };
  for (const [state, word] of Object.entries(cases)) assert.equal(standing({ state, mismatch: false }).word, word);
  assert.equal(standing({ state: 'offline', mismatch: true }).shade, 'bad');
  assert.equal(standing({ state: 'live', mismatch: false, latencyMs: 900 }).word, 'slow');
});

test('events grow stale on a live project only', () => {
  const now = Date.parse('2026-01-01T12:00:00Z');
  const of = (state, lastEvent) => isStale({ state, lastEvent }, now);
  assert.equal(of('live', '2026-01-01T11:00:00Z'), true);
  assert.equal(of('live', '2026-01-01T11:50:00Z'), false);
  assert.equal(of('offline', '2026-01-01T11:00:00Z'), false);
  assert.equal(of('live', ''), false);
});

test('an event is told in its own words, cut or not', () => {
  assert.deepEqual(told({ at: '', method: 'notifications/message', params: '{"level":"info","data":"done"}' }), { text: 'done', detail: 'info' });
  assert.deepEqual(told({ at: '', method: 'notifications/message', params: '{"data":{"a":1}}' }), { text: '{"a":1}', detail: 'message' });
  assert.deepEqual(told({ at: '', method: 'x/y', params: '{"data":"cut' }), { text: 'x/y', detail: '{"data":"cut' });
  assert.deepEqual(told({ at: '', method: 'notifications/tools/list_changed', params: '{}' }), { text: 'tools/list_changed', detail: '' });
});

test('the median is a value that was measured', () => {
  assert.equal(median([]), undefined);
  assert.equal(median([5]), 5);
  assert.equal(median([9, 1, 4]), 4);
  assert.equal(median([1, 2]), 1);
});

test('two lists of lines give both back', () => {
  const texts = [[], ['a'], ['a', 'b', 'c'], ['b', 'a'], ['x', 'b', 'c', 'y'], ['a', 'a', 'b']];
  for (const was of texts) {
    for (const now of texts) {
      const lines = compared(was, now);
      assert.deepEqual(lines.filter(({ kind }) => kind !== 'now').map(({ text }) => text), was);
      assert.deepEqual(lines.filter(({ kind }) => kind !== 'was').map(({ text }) => text), now);
    }
  }
  assert.deepEqual(compared(['a', 'b'], ['a', 'c']).map(({ kind }) => kind), ['same', 'was', 'now']);
  assert.equal(compared(Array(500).fill('a'), Array(500).fill('a')).length, 1000);
});

test('a definition is laid out, and one that was cut stays as it is', () => {
  assert.deepEqual(laidOut('{"a":1}'), ['{', '  "a": 1', '}']);
  assert.deepEqual(laidOut('{"a":'), ['{"a":']);
});

test('a project without a tool for it has no pipeline to tell of', () => {
  const projects = [{ name: 'a', ok: true }, { name: 'b', ok: false, why: 'it has no tool get_pipeline_status' }, { name: 'c', ok: false, why: 'it did not answer within 4.5 s' }];
  const { told, without } = withPipeline(projects);
  assert.deepEqual(told.map(({ name }) => name), ['a', 'c']);
  assert.deepEqual(without.map(({ name }) => name), ['b']);
});
