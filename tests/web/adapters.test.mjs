// What the page of adapters makes of targets, schemas and refusals.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { advice } from '../../facade/web/app/pages/adapters/advice.js';
import { fingerprintIn, networkIn, remedy } from '../../facade/web/app/pages/adapters/remedy.js';
import { below, errorsOf, marked, titleOf } from '../../facade/web/app/pages/adapters/refusal.js';
import { isProjectName, laterLine, projectLines, startLine } from '../../facade/web/app/pages/adapters/start-line.js';
import { health, isOutlived, isPlain, newest, shortKey, sinceThen } from '../../facade/web/app/pages/adapters/target.js';
import { difference, filled, missing, ways, withReasons } from '../../facade/web/app/pages/adapters/values.js';

const target = (changes = {}) => ({ id: '1', type: 'gitea', name: 'forge', config: {}, status: 'ready', validation: { verdict: 'passed', stages: [], notProvable: [], proven: [], wider: [] }, ...changes });
const relay = (changes = {}) => ({ state: 'live', mismatch: false, latencyMs: 4, ...changes });
const failed = { ok: false, stages: [{ name: 'reach', ok: false, ms: 1 }], at: '2026-01-01T00:00:02Z' };

test('the health of a target is its worst news', () => {
  const cases = [
    [target(), undefined, undefined, 'healthy'],
    [target({ status: 'disabled' }), relay({ mismatch: true }), failed, 'switched off'],
    [target({ status: 'drifted' }), undefined, undefined, 'can do too much'],
    [target(), undefined, failed, 'test failed'],
    [target({ validation: { ...target().validation, verdict: 'failed' } }), undefined, undefined, 'can do too little'],
    [target(), relay({ mismatch: true }), undefined, 'key refused'],
    [target({ status: 'waiting' }), relay({ state: 'waiting' }), undefined, 'waiting for its relay'],
    [target({ status: 'offline' }), relay({ state: 'offline' }), undefined, 'offline'],
    [target({ status: 'revoked' }), relay({ state: 'revoked' }), undefined, 'relay revoked'],
    [target(), relay({ state: 'silent' }), undefined, 'silent'],
    [target(), relay({ state: 'server_down' }), undefined, 'server down'],
    [target(), relay({ latencyMs: 940 }), undefined, 'slow'],
    [target(), relay({ why: 'its tools have changed' }), undefined, 'tools kept back'],
    [target(), relay(), undefined, 'healthy'],
  ];
  for (const [of, by, tested, word] of cases) assert.equal(health(of, by, tested).word, word);
});

test('a credential that expires soon is told', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const of = (expiresAt) => health(target({ validation: { ...target().validation, expiresAt } }), undefined, undefined, now);
  assert.equal(of('2026-01-10T00:00:00Z').word, 'expires in 9 d');
  assert.equal(of('2026-01-01T05:00:00Z').word, 'expires today');
  assert.equal(of('2025-12-31T00:00:00Z').state, 'bad');
  assert.equal(of('2026-03-01T00:00:00Z').word, 'healthy');
});

test('the newer test counts', () => {
  const passed = { ok: true, stages: [], at: '2026-01-01T00:00:01Z' };
  assert.equal(newest(target({ lastTest: passed }), failed), failed);
  assert.equal(newest(target({ lastTest: failed }), passed), failed);
  assert.equal(newest(target(), undefined), undefined);
});

test('a refusal stands at its field', () => {
  const of = (problem) => errorsOf({ violations: [], detail: '', ...problem }, 'proxmox');
  const at = (stage) => of({ validation: { wider: [], stages: [{ name: 'reach', ok: true, ms: 1 }, { name: stage, ok: false, ms: 1, reason: 'no' }] } });
  assert.deepEqual(of({ violations: [{ pointer: '/config/port', message: 'is no port' }, { pointer: '/config/port', message: 'second' }] }), { '/config/port': 'Is no port.' });
  assert.deepEqual(at('privileges'), { '/credential/tokenId': 'No.' });
  assert.deepEqual(at('tls'), { '/config/fingerprints': 'No.' });
  assert.deepEqual(of({ reason: 'CONFLICT', detail: 'taken' }), { '/name': 'Taken.' });
  const pointed = { wider: [], stages: [{ name: 'tls', ok: false, ms: 1, reason: 'no', pointer: '/config/caCertificate' }] };
  assert.deepEqual(of({ validation: pointed }), { '/config/caCertificate': 'No.' });
  assert.deepEqual(below({ '/config/a/b': 'x', '/credential/c': 'y', '/name': 'z' }, 'config'), { '/a/b': 'x' });
  assert.match(titleOf({ validation: { wider: [], stages: [{ name: 'authenticate', ok: false, ms: 1 }] }, reason: 'SCOPE_VIOLATION' }), /not accepted/);
  assert.match(titleOf({ validation: { wider: ['VM.Console'], stages: [] }, reason: 'ROLE_VIOLATION' }), /more than read/);
});

test('what to do is safe in a shell, whatever the form holds', () => {
  const { code } = advice('proxmox', { tokenId: "a'b;touch x@pve!t'$(id)" });
  const lines = code.text.split('\n');
  const words = execFileSync('sh', ['-c', `pveum() { printf '%s\\n' "$*"; }\n${lines.at(-1)}`]).toString().trim();
  assert.ok(words.endsWith('--roles PVEAuditor'));
  assert.ok(!advice('proxmox', { tokenId: 'no token' }).code.text.includes('no token'));
});

test('a certificate is found in what a handshake was refused with', () => {
  const print = Array.from({ length: 32 }, () => 'A0').join(':');
  assert.equal(fingerprintIn(`its SHA-256 fingerprint is ${print}, compare it`), print);
  assert.equal(fingerprintIn('A0:B1'), undefined);
  assert.equal(fingerprintIn(undefined), undefined);
});

test('what was left empty is not sent, and what was set to no is', () => {
  assert.deepEqual(filled({ a: '', b: undefined, c: [], d: false, e: 0, f: 'x' }), { d: false, e: 0, f: 'x' });
});

test('an edit sends what is different, and no credential where none was typed', () => {
  const of = target({ config: { baseUrl: 'https://a' } });
  assert.deepEqual(difference(of, { name: 'forge', config: { baseUrl: 'https://a', scope: '' }, credential: { token: '' } }), {});
  assert.deepEqual(difference(of, { name: 'f2', config: { baseUrl: 'https://b' }, credential: { token: 't' } }), { name: 'f2', config: { baseUrl: 'https://b' }, credential: { token: 't' } });
});

test('each way to give a credential has its own fields', () => {
  const schema = { properties: { token: {}, clientId: {}, clientSecret: {} }, oneOf: [{ title: 'Bearer', required: ['token'], properties: { clientId: false, clientSecret: false } }, { title: 'Client', required: ['clientId', 'clientSecret'], properties: { token: false } }] };
  assert.deepEqual(ways(schema).map(({ title, names }) => [title, names]), [['Bearer', ['token']], ['Client', ['clientId', 'clientSecret']]]);
  assert.deepEqual(ways({ properties: {} }), []);
});

test('a long key keeps its ends', () => {
  assert.equal(shortKey('R6-OwD8yQrHbf15oNX3nFnYKUDY_F-CkgJQ-zP7gWzY'), 'R6-OwD8y…gWzY');
  assert.equal(shortKey('short'), 'short');
});

test('what to do names the token that the form shows as an example', () => {
  const schema = { properties: { tokenId: { examples: ['audit@pve!toolgate'] } } };
  assert.match(advice('proxmox', {}, schema).code.text, /user token add audit@pve toolgate --privsep 1/);
  assert.match(advice('proxmox', { tokenId: 'me@pam!x' }, schema).code.text, /user token add me@pam x --privsep 1/);
});

test('a start line takes the command of the server as it was typed, and root where it is said', () => {
  const project = 'TOOLGATE_ENROLMENT_TOKEN=t toolgate relay project --gateway https://gate --name shop -- YOUR-SERVER';
  assert.equal(startLine(project, { project: true }), project);
  assert.equal(startLine(project, { project: true, server: ' node a.js --b \'c d\' ' }), project.replace('YOUR-SERVER', "node a.js --b 'c d'"));
  assert.equal(startLine(project, { project: true, root: true }), project.replace(' -- ', ' --allow-root -- '));
  const host = 'TOOLGATE_ENROLMENT_TOKEN=t toolgate relay host --gateway https://gate --name web';
  assert.equal(startLine(host, { project: false, root: true }), `${host} --allow-root`);
});

test('a later start line is safe in a shell, and a name that is refused is not told again', () => {
  assert.ok(laterLine({ type: 'ssh', name: '$(reboot) x' }, 'https://gate').endsWith(" --name '$(reboot) x'"));
  assert.equal(isProjectName('shop-2'), true);
  for (const name of ['', '-a', 'Shop', 'a b', 'a;reboot', 'a'.repeat(41)]) {
    assert.equal(isProjectName(name), false);
    assert.equal(projectLines(name, 'https://gate'), projectLines('storefront', 'https://gate'));
  }
});

test('what is live now is believed before a test that failed earlier', () => {
  const of = (changes) => relay({ connectedSince: '2026-01-01T00:00:00Z', lastSeen: '2026-01-01T00:00:01Z', ...changes });
  const cases = [
    [of(), false], [of({ lastSeen: '2026-01-01T00:00:03Z' }), true], [of({ connectedSince: '2026-01-01T00:00:03Z' }), true],
    [of({ lastSeen: '2026-01-01T00:00:03Z', state: 'server_down' }), false], [of({ lastSeen: '2026-01-01T00:00:03Z', mismatch: true }), false],
    [of({ connectedSince: '', lastSeen: '' }), false], [undefined, false],
  ];
  for (const [by, old] of cases) assert.equal(isOutlived(by, failed), old);
  const later = of({ lastSeen: '2026-01-01T00:00:03Z' });
  assert.equal(health(target({ type: 'project' }), later, failed).word, 'healthy');
  assert.equal(health(target({ type: 'project' }), of(), failed).word, 'test failed');
  assert.equal(isOutlived(later, { ...failed, ok: true }), false);
  const down = { ...failed, stages: [{ name: 'relay', ok: false, ms: 1, reason: 'the server of project shop does not run' }] };
  assert.equal(sinceThen(target({ type: 'project' }), later, down), 'before its server was up');
  assert.equal(sinceThen(target({ type: 'project' }), of({ connectedSince: '2026-01-01T00:00:03Z' }), failed), 'before its server was up');
  assert.equal(sinceThen(target({ type: 'project' }), later, failed), 'it has answered since');
  assert.equal(sinceThen(target({ type: 'ssh' }), later, failed), 'it has answered since');
});

test('every required field that is empty is marked at once', () => {
  const type = { configSchema: { properties: { host: {}, port: {} }, required: ['host'] }, credentialSchema: { properties: { id: {}, secret: {} }, required: ['id', 'secret'] } };
  const of = (values, kept) => Object.keys(missing(type, { name: '', config: {}, credential: {}, ...values }, kept));
  assert.deepEqual(of({}), ['/name', '/config/host', '/credential/id', '/credential/secret']);
  assert.deepEqual(of({ name: ' ', config: { host: 'a' }, credential: { id: 'x', secret: 'y' } }), ['/name']);
  assert.deepEqual(of({ name: 'a', config: { host: 'a' } }, true), []);
  assert.deepEqual(of({ name: 'a', config: { host: 'a' }, credential: { id: 'x' } }, true), ['/credential/secret']);
  const ways = { configSchema: {}, credentialSchema: { properties: { token: {}, id: {}, secret: {} }, oneOf: [{ required: ['token'], properties: { id: false, secret: false } }, { required: ['id', 'secret'], properties: { token: false } }] } };
  const way = (credential) => Object.keys(missing(ways, { name: 'a', config: {}, credential }));
  assert.deepEqual(way({}), ['/credential/token', '/credential/id', '/credential/secret']);
  assert.deepEqual(way({ id: 'x' }), ['/credential/secret']);
  assert.deepEqual(way({ token: 'x' }), []);
});

test('only fields of the form count as marked', () => {
  const type = { configSchema: { properties: { host: {} } }, credentialSchema: { properties: { token: {} } } };
  assert.equal(marked({ '/name': 'x', '/config/host': 'x', '/config': 'x', '': 'x', '/config/other': 'x' }, type), 2);
  assert.equal(marked({ '/credential/token': 'x' }, type), 1);
  assert.equal(marked({ '/credential/token': 'x' }, type, false), 0);
});

test('a field says the reason of the check, not what is around it', () => {
  const refused = { violations: [{ pointer: '/config/host', keyword: 'validated', message: 'nothing is stored, the validation failed at reach: no answer' }], detail: '', validation: { wider: [], stages: [{ name: 'reach', ok: false, ms: 1, reason: 'no answer' }] } };
  assert.deepEqual(errorsOf(refused, 'proxmox'), { '/config/host': 'No answer.' });
});

test('what to do is about what failed', () => {
  const of = (name, reason) => remedy({ name, ok: false, ms: 1, reason });
  const refused = '10.0.0.9 is a private address; allow it with allowPrivate ["10.0.0.9/32"]';
  assert.equal(networkIn(refused), '10.0.0.9/32');
  assert.equal(networkIn('allow it with allowPrivate ["fd00::5/128"]'), 'fd00::5/128');
  assert.equal(networkIn('no connection'), undefined);
  const { fix } = of('reach', refused);
  assert.deepEqual(fix.change({ host: 'a' }), { host: 'a', allowPrivate: ['10.0.0.9/32'] });
  assert.deepEqual(fix.change({ allowPrivate: ['10.0.0.1/32', '10.0.0.9/32'] }).allowPrivate, ['10.0.0.1/32', '10.0.0.9/32']);
  assert.deepEqual(of('reach', '127.0.0.1 is this machine itself; allow it with allowLoopback true').fix.change({ allowLoopback: false }), { allowLoopback: true });
  assert.match(of('reach', 'the name x cannot be looked up (none)').text, /does not know the name/);
  assert.match(of('reach', 'no connection to 127.0.0.1:1: nothing listens there').text, /Nothing answered/);
  assert.equal(of('reach', '169.254.0.1 is a link-local address, which is never dialled').fix, undefined);
  const print = Array.from({ length: 32 }, () => 'A0').join(':');
  assert.deepEqual(of('tls', `its SHA-256 fingerprint is ${print}`).fix.change({}), { fingerprints: [print] });
  assert.equal(of('tls', 'expired').fix, undefined);
  for (const stage of ['authenticate', 'privileges']) assert.equal(of(stage, 'no'), undefined);
  assert.equal(remedy(undefined), undefined);
});

test('what is on by itself says why, and plain HTTP is told', () => {
  const schema = (initial) => ({ properties: { allowHttp: { type: 'boolean', description: 'Whether.', default: initial }, port: { default: true, description: 'x' } } });
  assert.equal(withReasons(schema(true)).properties.allowHttp.description, 'Whether. On by itself, because only this machine reaches this gateway.');
  assert.equal(withReasons(schema(false)).properties.allowHttp.description, 'Whether.');
  assert.equal(withReasons(schema(true)).properties.port.description, 'x');
  for (const [baseUrl, plain] of [['http://forge:3000', true], ['HTTP://a', true], ['https://a', false], [undefined, false]]) assert.equal(isPlain(target({ config: { baseUrl } })), plain);
});
