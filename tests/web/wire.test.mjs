// Event streams and lines, as they arrive in pieces and break off.
import assert from 'node:assert/strict';
import test from 'node:test';
import { EventReader, events, lines } from '../../facade/web/app/wire.js';

/** An answer whose body comes in these pieces; an Error among them breaks it off. */
function answer(...pieces) {
  const encoder = new TextEncoder();
  return new Response(new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else if (piece instanceof Error) controller.error(piece);
      else controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
    },
  }));
}

/** What a stream of these answers tells, and from where each was asked. */
async function told(answers, options = {}) {
  const asked = [];
  const heard = [];
  await events((id) => {
    asked.push(id);
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return Promise.resolve(next);
  }, { onEvent: (event) => heard.push(event), pauses: [0, 0, 0], ...options });
  return { asked, heard };
}

const refusal = Object.assign(new Error('refused'), { status: 404 });
const RESULT = 'id: c-1\nevent: tool_result\ndata: {"content":[]}\n\n';
const DONE = 'id: c-2\nevent: done\ndata: {"durationMs":7}\n\n';

test('an event is whole however it is cut', () => {
  const text = ': alive\r\nid: c-1\r\nevent: tool_result\r\ndata: {"a":\r\ndata: "ä"}\r\n\r\ndata:no space\n\n';
  const whole = new EventReader().read(text);
  assert.deepEqual(whole, [
    { id: 'c-1', event: 'tool_result', data: { a: 'ä' }, text: '{"a":\n"ä"}' },
    { id: 'c-1', event: 'message', data: 'no space', text: 'no space' },
  ]);
  for (let at = 1; at < text.length; at += 1) {
    const reader = new EventReader();
    assert.deepEqual([...reader.read(text.slice(0, at)), ...reader.read(text.slice(at))], whole, `cut at ${at}`);
  }
});

test('an event without data is none, and an unknown field is passed over', () => {
  assert.deepEqual(new EventReader().read('event: done\n\nfuture: 1\nid\nretry: x\n\n'), []);
});

test('a stream is read to its terminal event', async () => {
  const { asked, heard } = await told([answer(RESULT, DONE, 'data: never read\n\n')]);
  assert.deepEqual(asked, ['']);
  assert.deepEqual(heard.map((each) => each.event), ['tool_result', 'done']);
  assert.deepEqual(heard[1].data, { durationMs: 7 });
});

test('a stream that breaks off is resumed after the last whole event', async () => {
  const { asked, heard } = await told([
    answer(RESULT, 'id: c-2\nevent: done\ndata: {"dur', new Error('reset')),
    new TypeError('no connection'),
    answer(DONE),
  ]);
  assert.deepEqual(asked, ['', 'c-1', 'c-1']);
  assert.deepEqual(heard.map((each) => each.id), ['c-1', 'c-2']);
});

test('letters of two bytes may be cut between them', async () => {
  const bytes = new TextEncoder().encode('event: done\ndata: "für"\n\n');
  for (let at = 1; at < bytes.length; at += 1) {
    const { heard } = await told([answer(bytes.slice(0, at), bytes.slice(at))]);
    assert.equal(heard[0].data, 'für');
  }
});

test('a refusal is told at once, a break after the last try', async () => {
  await assert.rejects(told([refusal, answer(DONE)]), refusal);
  const breaks = [1, 2, 3, 4].map((number) => new TypeError(`break ${number}`));
  await assert.rejects(told([...breaks, answer(DONE)]), /break 4/);
});

test('every event gives the tries back', async () => {
  const parts = [1, 2, 3, 4, 5, 6].map((number) => answer(`id: ${number}\ndata: ${number}\n\n`));
  const { heard } = await told([...parts, answer(DONE)]);
  assert.equal(heard.length, 7);
});

test('whoever leaves is not asked again', async () => {
  const control = new AbortController();
  const open = () => { control.abort(); throw control.signal.reason; };
  await assert.rejects(events(open, { onEvent() {}, signal: control.signal, pauses: [0] }), { name: 'AbortError' });
});

test('lines are values, also the last one without an end', async () => {
  const heard = [];
  await lines(answer('{"rows":1}\n\n{"ro', 'ws":2}\n{"valid":true}'), (value) => heard.push(value));
  assert.deepEqual(heard, [{ rows: 1 }, { rows: 2 }, { valid: true }]);
});
