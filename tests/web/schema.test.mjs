// Forms as a JSON Schema describes them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { blank, errorsByPointer, fieldsOf, textOf, valueOf, withMember } from '../../facade/web/app/schema.js';

const PROXMOX = {
  type: 'object',
  required: ['host'],
  properties: {
    host: { type: 'string', title: 'Host', description: 'name or address', examples: ['pve.example'] },
    port: { type: 'integer', minimum: 1, maximum: 65535, default: 8006 },
    caCertificate: { type: ['string', 'null'], contentMediaType: 'application/x-pem-file' },
    fingerprints: { type: 'array', items: { type: 'string' }, examples: [['AA:BB', 'CC:DD']] },
    tokenSecret: { type: 'string', writeOnly: true },
    verify: { type: 'boolean' },
    kind: { enum: ['qemu', 'lxc', null] },
    level: { oneOf: [{ const: 1, title: 'low' }, { const: 2, title: 'high' }] },
    limit: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
    place: { $ref: '#/$defs/place', description: 'where it stands' },
    type: { const: 'proxmox' },
    free: {},
    rows: { type: 'array', items: { type: 'object' } },
    'a/b~c': { type: 'string' },
  },
  $defs: { place: { type: 'object', required: ['city'], properties: { city: { type: 'string' }, next: { $ref: '#/$defs/place' } } } },
};

const byKey = (fields) => Object.fromEntries(fields.map((field) => [field.key, field]));

test('fields come in the order of the properties, each in its kind', () => {
  const kinds = fieldsOf(cut(PROXMOX)).map(({ key, kind }) => `${key} ${kind}`);
  assert.deepEqual(kinds, ['host text', 'port integer', 'caCertificate long', 'fingerprints list', 'tokenSecret secret', 'verify switch',
    'kind select', 'level select', 'limit integer', 'place object', 'type const', 'free json', 'rows json', 'a/b~c text']);
});

/** Without the schema that holds itself, which the next test is about. */
function cut(schema) {
  const copy = structuredClone(schema);
  delete copy.$defs.place.properties.next;
  return copy;
}

test('a schema that holds itself is a form of finite depth', () => {
  assert.equal(byKey(fieldsOf(PROXMOX)).place.kind, 'object');
});

test('a field tells its title, help, example, range and place', () => {
  const fields = byKey(fieldsOf(cut(PROXMOX)));
  assert.deepEqual([fields.host.title, fields.host.help, fields.host.example, fields.host.required], ['Host', 'name or address', 'pve.example', true]);
  assert.deepEqual([fields.port.type, fields.port.title, fields.port.required], ['1–65535', 'port', false]);
  assert.deepEqual([fields.place.help, fields.place.fields[0].pointer, fields.place.fields[0].required], ['where it stands', '/place/city', true]);
  assert.equal(fields.fingerprints.example, 'AA:BB, CC:DD');
  assert.equal(fields['a/b~c'].pointer, '/a~1b~0c');
  assert.deepEqual(fields.level.options, [{ value: 1, label: 'low' }, { value: 2, label: 'high' }]);
  assert.deepEqual(fields.kind.options.map(({ value }) => value), ['qemu', 'lxc']);
});

test('a form starts with defaults and constants only', () => {
  assert.deepEqual(blank(cut(PROXMOX)), { port: 8006, type: 'proxmox' });
  assert.deepEqual(blank({ type: 'object', required: ['on', 'place'], properties: { on: { type: 'boolean' }, place: { type: 'object', properties: { n: { default: 1 } } } } }), { on: false, place: { n: 1 } });
  assert.deepEqual(blank(undefined), {});
});

test('what is typed is a value of its kind, or stays as it was typed', () => {
  const fields = byKey(fieldsOf(cut(PROXMOX)));
  const cases = [
    ['port', '8006', 8006], ['port', '80x', '80x'], ['port', '', undefined], ['port', '1e3', 1000], ['host', ' a ', ' a '],
    ['fingerprints', 'a\n b ,c\n', ['a', 'b', 'c']], ['level', '2', 2], ['kind', 'lxc', 'lxc'], ['free', '{"a":1}', { a: 1 }], ['free', '{', '{'],
  ];
  for (const [key, text, expected] of cases) assert.deepEqual(valueOf(fields[key], text), expected, `${key} ${text}`);
  for (const [key, value] of [['port', 8006], ['fingerprints', ['a', 'b']], ['level', 2], ['free', { a: [1] }], ['host', 'x']]) {
    assert.deepEqual(valueOf(fields[key], textOf(fields[key], value)), value, key);
  }
});

test('a member that is emptied is gone', () => {
  assert.deepEqual(withMember({ a: 1, b: 2 }, 'a', undefined), { b: 2 });
  assert.deepEqual(withMember(undefined, 'a', 0), { a: 0 });
});

test('violations find their field', () => {
  const violations = [{ pointer: '/config/host', message: 'is missing' }, { pointer: '/config/host', message: 'too short' }, { pointer: '/credential/token', message: 'wrong' }, { pointer: '/configuration', message: 'other' }];
  assert.deepEqual(errorsByPointer(violations, '/config'), { '/host': 'is missing; too short' });
  assert.deepEqual(errorsByPointer(violations, '/credential'), { '/token': 'wrong' });
  assert.deepEqual(errorsByPointer(undefined), {});
});
