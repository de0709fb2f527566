// Text for a machine, and how to take it along.
import { html, useState, useRef, useEffect } from '../html.js';
import { Button } from './button.js';
import { Segmented } from './field.js';

/** @param {string} text @param {HTMLElement | null} [shown] selected where the browser gives no clipboard */
async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (shown) getSelection()?.selectAllChildren(shown);
    return false;
  }
}

/** @param {{text: string | (() => string), label?: any, small?: boolean, kind?: 'quiet' | 'primary', shown?: any, children?: any}} props */
export function CopyButton({ text, label, small = true, kind = 'quiet', shown, children }) {
  const [done, setDone] = useState('');
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(''), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const press = async () => setDone(await copy(typeof text === 'function' ? text() : text, shown?.current) ? 'Copied' : 'Press Ctrl C');
  return html`
    <${Button} kind=${kind} small=${small} icon=${done === 'Copied' ? 'check' : 'copy'} aria-label=${children || done ? undefined : label ?? 'Copy'} onClick=${press}>
      <span aria-live="polite">${done || children || 'Copy'}</span>
    <//>`;
}

/** @param {{text: string, label?: string, head?: any, wrap?: boolean}} props label: what it is, for those who hear it */
export function Code({ text, label = 'Text', head, wrap }) {
  const pre = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = html`<pre ref=${pre} tabindex="0" aria-label=${label}>${text}</pre>`;
  const taken = html`<${CopyButton} text=${text} label=${`Copy ${label}`} shown=${pre} />`;
  if (head === undefined && !text.includes('\n')) return html`<div class="code one">${shown}${taken}</div>`;
  return html`<div class=${wrap ? 'code wrap' : 'code'}><div class="code-head">${head ?? label}<span class="push"></span>${taken}</div>${shown}</div>`;
}

/** The same thing in several dialects. @param {{variants: {id: string, label: string, text: string}[], label?: string, wrap?: boolean}} props */
export function CopyAs({ variants, label = 'Dialect', wrap }) {
  const [chosen, setChosen] = useState(variants[0]?.id ?? '');
  const now = variants.find((each) => each.id === chosen) ?? variants[0];
  if (!now) return null;
  const head = html`<${Segmented} label=${label} value=${now.id} onChange=${setChosen} options=${variants.map(({ id, label: name }) => ({ value: id, label: name }))} />`;
  return html`<${Code} text=${now.text} label=${now.label} head=${head} wrap=${wrap} />`;
}
