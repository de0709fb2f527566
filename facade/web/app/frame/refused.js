// How many relays came with a key that is not the pinned one: somebody has to look.
import { html } from '../html.js';
import { me } from '../session.js';
import { useGet } from '../use.js';

const EVERY_MS = 30000;

export function Refused() {
  const { data } = useGet(me.value?.role === 'agent' ? null : '/api/fleet/relays', { every: EVERY_MS });
  const count = (data?.relays ?? []).filter((/** @type {any} */ relay) => relay.mismatch).length;
  if (!count) return null;
  const what = count === 1 ? 'relay refused' : 'relays refused';
  return html`<b class="count bad" title=${`${count} ${what}`}>${count}<i class="sr"> ${what}</i></b>`;
}
