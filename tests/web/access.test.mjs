// Access: whom a sign-in link may be for.
import assert from 'node:assert/strict';
import test from 'node:test';
import { options } from '../../facade/web/app/pages/access/link-for.js';
import { aboutOf } from '../../facade/web/app/pages/audit/events.js';

test('a sign-in link is for oneself or for a person whose token lives', () => {
  const tokens = [
    { id: '1', name: 'eva', role: 'auditor' },
    { id: '2', name: 'pod', role: 'agent' },
    { id: '3', name: 'ed', role: 'engineer', revokedAt: '2026-01-01T00:00:00Z' },
    { id: '4', name: 'al', role: 'admin', expiresAt: '2026-01-01T00:00:00Z' },
    { id: '5', name: 'bo', role: 'engineer', expiresAt: '2026-03-01T00:00:00Z' },
  ];
  assert.deepEqual(options(tokens, Date.parse('2026-02-01T00:00:00Z')), [
    { value: '', label: 'for me' }, { value: '1', label: 'for eva (auditor)' }, { value: '5', label: 'for bo (engineer)' },
  ]);
});

test('the record calls a sign-in link by its name', () => {
  const row = (detail) => aboutOf({ event: 'token.created', detail });
  assert.equal(row({ name: 'eva', kind: 'sign_in' }), 'sign-in link · eva');
  assert.equal(row({ name: 'ci' }), 'ci');
});

test('whom a provider vouched for makes links for others alone', () => {
  const tokens = [{ id: '1', name: 'eva', role: 'auditor' }, { id: '2', name: 'bot', role: 'agent' }];
  assert.deepEqual(options(tokens, 0, false), [{ value: '1', label: 'for eva (auditor)' }]);
  assert.deepEqual(options([], 0, false), []);
});
