// Takes the record away: an archive that proves itself, or its rows alone.

import { html } from '../../html.js';
import { curl, download } from '../../api.js';
import { sentence } from '../../refusals.js';
import { toast } from '../../parts/toast.js';
import { Menu } from '../../parts/popover.js';

/** @param {{label: string}} props */
export function ExportMenu({ label }) {
  const day = new Date().toISOString().slice(0, 10);
  const take = (/** @type {string} */ path, /** @type {string} */ name) => async () => {
    const refusal = await refusalOf(path);
    if (refusal) {
      toast({ state: 'bad', title: 'Not exported', text: sentence(refusal) });
      return;
    }
    download(path, name);
    toast({ state: 'ok', title: 'Export begun', text: `${name} is being saved by this browser` });
  };
  const items = [
    { label: 'NDJSON, manifest, checkpoints', icon: 'save', onSelect: take('/api/audit/archive?format=ndjson', `toolgate-audit-${day}.tar`) },
    { label: 'CSV, manifest, checkpoints', icon: 'save', onSelect: take('/api/audit/archive?format=csv', `toolgate-audit-${day}-csv.tar`) },
    { label: 'Rows only, NDJSON', icon: 'book', onSelect: take('/api/audit/export?format=ndjson', `toolgate-audit-${day}.ndjson`) },
    { label: 'Rows only, CSV', icon: 'book', onSelect: take('/api/audit/export?format=csv', `toolgate-audit-${day}.csv`) },
    { label: 'Checkpoints and keys only', icon: 'seal', onSelect: take('/api/audit/checkpoints', `toolgate-checkpoints-${day}.ndjson`) },
    { label: 'Copy this export as curl', icon: 'copy', onSelect: copy(`${curl('GET', '/api/audit/archive')} > toolgate-audit-${day}.tar`) },
    { label: 'Copy verify as curl', icon: 'copy', onSelect: copy(curl('POST', '/api/audit/verify', {})) },
  ];
  return html`<${Menu} label=${label} icon="save" kind="" small=${false} items=${items} />`;
}

/** Puts a command on the clipboard. */
const copy = (/** @type {string} */ text) => async () => {
  try {
    await navigator.clipboard.writeText(text);
    toast({ title: 'Copied', text });
  } catch {
    toast({ state: 'bad', title: 'This browser gives no clipboard here', text });
  }
};

/** Why the answer would be a refusal, which a browser would save as if it were the export; empty where it is none. */
async function refusalOf(/** @type {string} */ path) {
  const enough = new AbortController();
  try {
    const answer = await fetch(path, { signal: enough.signal, cache: 'no-store' });
    if (answer.ok) return '';
    const told = await answer.json().catch(() => null);
    return told?.detail ?? `the gateway answered ${answer.status}`;
  } catch {
    return 'the gateway does not answer';
  } finally {
    enough.abort();
  }
}
