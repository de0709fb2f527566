// One link of the chain in the table: a row, a gap, a checkpoint, a new day.

import { html } from '../../html.js';
import { Link } from '../../router.js';
import { Badge } from '../../parts/badge.js';
import { Icon } from '../../parts/icon.js';
import { Clock } from '../../parts/time.js';
import { aboutOf, clockOf, grouped, isMinute, often, stateOf, subject, times, unreadable } from './events.js';

/** @typedef {import('./events.js').AuditEvent} AuditEvent */

/** How many cells a row has, the chain's not counted. */
export const CELLS = 7;

/**
 * A row of the record.
 * @param {{row: AuditEvent, href: string, target: string, current: boolean, isNew: boolean, onOpen: () => void}} props
 */
export function Row({ row, href, target, current, isNew, onOpen }) {
  const refused = row.result === 'refused' || unreadable(row);
  const { at, fraction } = clockOf(row.time);
  const minute = isMinute(row);
  const count = minute ? `${often(times(row))} in that minute` : '';
  const about = row.capability ? '' : aboutOf(row);
  const kind = row.capability && row.event !== 'adapter.capability_invoked' ? row.event : '';
  return html`<tr class=${names(refused && 'bad-row', isNew && 'is-new')} aria-selected=${current ? 'true' : undefined}
      data-seq=${row.seq} onClick=${(/** @type {MouseEvent} */ event) => opened(event, onOpen)}>
    <td class="chain"></td>
    <td class="lg num"><code class="faint">${grouped(row.seq)}</code></td>
    <td class="nowrap"><time datetime=${row.time} title=${minute ? `the minute of ${row.time}` : row.time}><code class="dim">${minute ? at.slice(0, 5) : at}${!minute && html`<span class="faint md-inline">${fraction}</span>`}</code></time></td>
    <td><${Link} class="rowlink" data-stay href=${href} aria-label=${`Row ${row.seq}, ${subject(row)}`}><code class="break">${subject(row)}</code><//>
      ${(about || row.reason || count || kind) && html`<span class="sub break">${[about, row.reason, count, kind].filter(Boolean).join(' · ')}</span>`}
      <span class="sub only-narrow">${[row.principal, target, row.result].filter(Boolean).join(' · ')}</span></td>
    <td class="md dim"><span class="break">${target || html`<span class="faint">${row.event === 'adapter.write_rejected' ? 'not contacted' : '–'}</span>`}</span></td>
    <td class="md dim"><span class="break">${row.principal || html`<span class="faint">${row.facade === 'system' ? 'the gateway' : '–'}</span>`}</span></td>
    <td class="sm">${!unreadable(row) && html`<${Badge} state=${stateOf(row.result)}>${row.result}<//>`}</td>
    <td class="r lg"><code class="dim">${row.durationMs ? grouped(row.durationMs) : '–'}</code></td>
  </tr>`;
}

/** Rows that the filter, or the role, hides. */
export function Gap(/** @type {{rows: number, own: boolean}} */ { rows, own }) {
  const words = rows === 1 ? '1 row' : `${grouped(rows)} rows`;
  return html`<tr class="gap"><td class="chain"></td>
    <td colspan=${CELLS}>${words} ${own ? 'of others or outside the filter' : 'outside the filter'}</td></tr>`;
}

/** The newest signed checkpoint, at its place. */
export function Checkpoint(/** @type {{seq: number, at: string}} */ { seq, at }) {
  return html`<tr class="ckpt"><td class="chain"></td><td colspan=${CELLS}><span class="row tight flat">
    <${Icon} name="seal" small /><span class="clip">Newest checkpoint, signed at seq ${grouped(seq)}; rows above rest on their MACs until the next</span>
    ${at && html`<span class="push only-wide"><${Clock} at=${at} /></span>`}</span></td></tr>`;
}

/** The rows below are of this day. */
export function Day(/** @type {{day: string}} */ { day }) {
  return html`<tr class="group day"><td class="chain"></td><td colspan=${CELLS}>${day}, UTC</td></tr>`;
}

/** A click opens the row, unless it went to a link or ended a selection of text. */
function opened(/** @type {MouseEvent} */ event, /** @type {() => void} */ open) {
  if (event.defaultPrevented || (event.target instanceof Element && event.target.closest('a, button'))) return;
  if (!getSelection()?.isCollapsed) return;
  open();
}

const names = (/** @type {any[]} */ ...classes) => classes.filter(Boolean).join(' ') || undefined;
