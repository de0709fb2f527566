// A provider of OpenID Connect that is certified: the package oidc-provider with its pages for development. The first
// argument is a JSON object `{packages, secret?, inIdToken}`; a line `{"issuer": …}` on standard output says that it
// listens. Whoever signs in as `ada` is in the group `ops`, as `eve` in a group that means nothing, and `bob` in none that
// is told. It ends with its standard input.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { packages, secret, inIdToken } = JSON.parse(process.argv[2]);
const require = createRequire(`${packages}/node_modules/`);
const { Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);

// Nobody reads standard output after its first line.
console.log = console.info = console.error;
const GROUPS = { ada: ['users', 'ops'], eve: ['users'], bob: undefined };
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'gate',
        ...(secret ? { client_secret: secret } : {}),
        // Of a loopback address any port is taken then (RFC 8252).
        application_type: 'native',
        token_endpoint_auth_method: secret ? 'client_secret_basic' : 'none',
        redirect_uris: ['http://127.0.0.1/sign-in/oidc/callback'],
      },
    ],
    scopes: ['openid', 'groups'],
    claims: { openid: ['sub'], groups: ['groups'] },
    conformIdTokenClaims: !inIdToken,
    pkce: { required: () => true },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, groups: GROUPS[id] }) }),
    cookies: { keys: ['of the test'] },
  });
  server.on('request', provider.callback());
  process.stdout.write(`${JSON.stringify({ issuer })}\n`);
});
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
