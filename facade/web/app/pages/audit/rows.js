// The table of the record: the chain in its order, moved through with J, K and Enter.

import { html, useEffect, useRef, useState } from '../../html.js';
import { go } from '../../router.js';
import { useKeys } from '../../use.js';
import { Skeleton } from '../../parts/skeleton.js';
import { weave } from './chain.js';
import { Checkpoint, Day, Gap, Row } from './row.js';

/** @typedef {import('./events.js').AuditEvent} AuditEvent */

/**
 * @param {{
 *   rows: AuditEvent[], loading: boolean, end: boolean, head: number, own: boolean,
 *   checkpoint: {seq: number, at: string}|undefined, open: number|null, search: string, newest: number,
 *   nameOf: (targetId: string) => string,
 * }} props `newest`: rows above this place came in while the page was looked at
 */
export function Rows({ rows, loading, end, head, own, checkpoint, open, search, newest, nameOf }) {
  const [at, setAt] = useState(/** @type {number|null} */ (null));
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  // Rows that look as before are not drawn again: a long list stays quick under J and K.
  const drawn = useRef(/** @type {Map<number, {as: string, row: AuditEvent, vnode: any}>} */ (new Map()));
  const current = at ?? open;
  const hrefOf = (/** @type {number} */ seq) => `/audit/${seq}${search}`;
  const show = (/** @type {number} */ seq) => { setAt(seq); go(hrefOf(seq), { replace: open !== null, stay: true }); };

  const step = (/** @type {number} */ by) => {
    if (rows.length === 0) return;
    const from = rows.findIndex((row) => row.seq === current);
    const to = rows[Math.min(Math.max(from + by, 0), rows.length - 1)];
    if (to && open !== null) show(to.seq);
    else if (to) setAt(to.seq);
  };
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    Enter: () => { if (current !== null) show(current); },
  });
  useEffect(() => { if (open !== null) setAt(open); }, [open]);
  useEffect(() => {
    if (at !== null) box.current?.querySelector(`tr[data-seq="${at}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  if (loading && rows.length === 0) return html`<${Skeleton} rows=${10} />`;
  const draw = (/** @type {AuditEvent} */ row, /** @type {string} */ target, /** @type {boolean} */ here) => {
    const as = `${here} ${target} ${search} ${open !== null}`;
    const before = drawn.current.get(row.seq);
    if (before?.as === as && before.row === row) return before.vnode;
    const vnode = html`<${Row} key=${row.seq} row=${row} href=${hrefOf(row.seq)} target=${target}
      current=${here} isNew=${row.seq > newest} onOpen=${() => show(row.seq)} />`;
    drawn.current.set(row.seq, { as, row, vnode });
    return vnode;
  };
  const links = weave(rows, { head, end, checkpoint });
  let day = new Date().toISOString().slice(0, 10);
  return html`<div class="scroll tall" tabindex="0" role="region" aria-label="Audit rows, scrollable" ref=${box}>
    <table class="table"><${Head} /><tbody>
      ${links.map((link) => {
        if (link.kind === 'gap') return html`<${Gap} key=${`g${link.above}`} rows=${link.rows} own=${own} />`;
        if (link.kind === 'checkpoint') return html`<${Checkpoint} key="checkpoint" seq=${link.seq} at=${link.at} />`;
        const { row } = link;
        const before = day;
        if (row.time) day = row.time.slice(0, 10);
        return [
          day !== before && html`<${Day} key=${`d${day}${row.seq}`} day=${dayWords(day)} />`,
          draw(row, nameOf(row.targetId), row.seq === current),
        ];
      })}
    </tbody></table></div>`;
}

const Head = () => html`<thead><tr>
  <th scope="col" class="chain"><span class="sr">Chain</span></th><th scope="col" class="lg">Seq</th>
  <th scope="col">Time, UTC</th><th scope="col">Tool or event</th><th scope="col" class="md">Target</th>
  <th scope="col" class="md">Principal</th><th scope="col" class="sm">Result</th><th scope="col" class="r lg">ms</th>
</tr></thead>`;

const dayWords = (/** @type {string} */ day) =>
  new Date(`${day}T00:00:00Z`).toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
