// How people sign in here. The settings are the gateway's, read at its start; these pages show them.
import { html } from '../../html.js';
import { useGet, useMoment } from '../../use.js';
import { me } from '../../session.js';
import { Badge, Dot } from '../../parts/badge.js';
import { Card } from '../../parts/card.js';
import { KeyValue } from '../../parts/kv.js';
import { Note, Refusal } from '../../parts/note.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Clock } from '../../parts/time.js';
import { METHODS } from './methods.js';

export function SignInSettings() {
  const { data, error, reload } = useGet('/api/sign-in/options');
  const moment = useMoment();
  if (error) return html`<${Refusal} problem=${error} onRetry=${reload} />`;
  if (!data && !moment) return null;
  if (!data) return html`<${Card} title="Sign-in"><${Skeleton} lines=${4} /><//>`;
  const provider = data.oidc;
  return html`
    <div class="split even">
      <${Card} title="Sign-in" actions=${html`<${Badge} state=${provider ? 'ok' : 'idle'}><${Dot} state=${provider ? 'ok' : 'off'} />${provider ? 'provider configured' : 'no provider'}<//>`}>
        <${KeyValue} rows=${[
          ['Provider', provider ? 'OpenID Connect' : 'none'],
          ['Name', provider?.name],
          ['Begins at', provider && html`<code>${location.origin}${provider.url}</code>`],
          ['Comes back to', provider && html`<code>${location.origin}/sign-in/oidc/callback</code>`],
          ['Sign-in link', data.link === false ? 'off' : 'on: works once, for 15 minutes'],
        ]} />
        ${!provider && html`<${Note} title="People sign in with a link."><span>With an OpenID Connect provider they use their own account, and its groups give them their role. It is set in the configuration of the gateway, in <code>[oidc]</code>.</span><//>`}
      <//>
      <${Card} title="You">
        <${KeyValue} rows=${[
          ['Name', me.value?.principal], ['Role', me.value?.role], ['Profile', me.value?.profile], ['Tenant', html`<code>${me.value?.tenantId}</code>`],
          ['Signed in by', METHODS[me.value?.method ?? 'link']],
          ['Session ends', me.value?.expiresAt && html`<${Clock} at=${me.value.expiresAt} date /> UTC`],
        ]} />
      <//>
    </div>`;
}
