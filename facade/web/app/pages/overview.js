// Overview: is it up, what is asked, what was refused, how sealed is the record; and the first three steps.

import { html, useEffect, useRef, useState } from '../html.js';
import { curl } from '../api.js';
import { may } from '../session.js';
import { keep, kept, useGet } from '../use.js';
import { Button } from '../parts/button.js';
import { CopyButton } from '../parts/code.js';
import { Refusal } from '../parts/note.js';
import { Page } from '../parts/page.js';
import { toast } from '../parts/toast.js';
import { tell } from '../sealed.js';
import { later } from '../later.js';
import { needStyle } from '../need-style.js';
import { Guide } from './overview/guide.js';
import { healthOf } from './overview/health.js';
import { useProgress } from './overview/progress.js';
import { Refusals } from './overview/refusals.js';
import { Slowest } from './overview/slowest.js';
import { Status } from './overview/status.js';
import { Targets } from './overview/targets.js';
import { Figures } from './overview/tiles.js';
import { SPANS, Traffic } from './overview/traffic.js';

/** How often the figures are read. */
const LIVE_MS = 2000;
const HIDDEN = 'toolgate.guide';

/** @param {{parts: string[], query: URLSearchParams}} props */
export default function Overview({ query }) {
  const client = query.get('connect');
  return client === null ? html`<${Now} />` : html`<${Connect} id=${client || 'claude'} />`;
}

await needStyle('overview');

const Connect = later(() => import('./overview/connect.js'), 'Connect');

function Now() {
  const [span, setSpan] = useState('60');
  const [hidden, setHidden] = useState(kept(HIDDEN) === 'hidden');
  const words = SPANS.find((each) => each.value === span)?.words ?? '';
  const figures = useGet('/api/overview', { query: { minutes: span }, every: LIVE_MS });
  const targets = useGet('/api/mcp/adapter', { query: { pageSize: 200 }, every: 10_000 });
  const relays = useGet('/api/fleet/relays', { every: 10_000 });
  // Whoever comes back with all of it done is shown the traffic alone.
  const begun = useRef(/** @type {boolean|null} */ (null));
  const guided = may('change') && !hidden && begun.current !== false;
  const progress = useProgress(targets, guided);
  if (progress.known && begun.current === null) begun.current = !(progress.target && progress.called && progress.agent);
  useEffect(() => tell(figures.data?.record), [figures.data]);
  useBroken(!!figures.data && !!figures.error);
  const hide = () => { keep(HIDDEN, 'hidden'); setHidden(true); };
  const health = targets.data?.targets.map((/** @type {any} */ target) => healthOf(target, relayOf(relays, target.id)));
  const shared = { overview: figures.data, span: words };
  return html`<${Page} title="Overview" lead="What agents may see, what they asked, and whether all of it is on the record." actions=${html`
      <${CopyButton} text=${curl('GET', `/api/overview?minutes=${span}`)} small=${false}>Copy as curl<//>
      ${may('call') && html`<${Button} icon="agent" href="/?connect=claude">Connect an agent<//>`}
      ${may('call') && html`<${Button} kind="primary" icon="play" href="/test-call">Test call<//>`}`}>
    <${Status} overview=${figures.data} health=${health} />
    ${guided && begun.current && html`<${Guide} progress=${progress} onHide=${hide} />`}
    ${progress.known && html`<${Below} figures=${figures} targets=${targets} relays=${relays} shared=${shared} span=${span} setSpan=${setSpan} quiet=${guided && !progress.called} />`}<//>`;
}

/** What stands below the steps, without charts before the first call; drawn once it is known whether there are any, so that nothing jumps. */
function Below(/** @type {any} */ { figures, targets, relays, shared, span, setSpan, quiet }) {
  return html`${figures.error && !figures.data && html`<${Refusal} problem=${figures.error} title="The figures are away." onRetry=${figures.reload}>
      <span> Targets, rejections and the record below are current; figures return by themselves.</span><//>`}
    <${Figures} ...${shared} failed=${!!figures.error} />
    ${(figures.data || !figures.error) && !quiet && html`<div class="split two-one level">
      <${Traffic} ...${shared} span=${span} setSpan=${setSpan} live=${!figures.error} /><${Slowest} ...${shared} /></div>`}
    <div class="split two-one"><${Targets} targets=${targets} relays=${relays} /><${Refusals} ...${shared} /></div>`;
}

/** Says once that live figures broke off, and takes it back when they are there again. */
function useBroken(/** @type {boolean} */ broken) {
  useEffect(() => (broken
    ? toast({ state: 'bad', title: 'The live figures broke off', text: 'What is shown was known last; they return by themselves.' })
    : undefined), [broken]);
}

const relayOf = (/** @type {any} */ relays, /** @type {string} */ id) =>
  relays.data?.relays?.find((/** @type {any} */ relay) => relay.targetId === id);
