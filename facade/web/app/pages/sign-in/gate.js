// The gate: what passes and what does not.
import { html } from '../../html.js';

export const Gate = () => html`
  <svg class="gate" viewBox="0 6 384 80" role="img" aria-label="Reads pass the gate and are recorded; writes stop at it"><path class="hot" d="M64 34H320"/><path class="cut" d="M64 58H176"/><path class="cut" d="m172 54 8 8m0-8-8 8"/><path class="ln" d="M202 58H320" stroke-dasharray="2 4"/><rect class="box" x="20" y="22" width="48" height="48" rx="10"/><rect class="box" x="316" y="22" width="48" height="48" rx="10"/><path class="ln" d="M34 41.5a3 3 0 0 1 3-3h14a3 3 0 0 1 3 3v10a3 3 0 0 1-3 3H37a3 3 0 0 1-3-3zM44 38.5V34M40 45v2.5M48 45v2.5M331 37h18v7h-18zM331 48h18v7h-18zM334.5 40.5h.1M334.5 51.5h.1"/><rect class="post" x="182" y="10" width="5" height="72" rx="2.5"/><rect class="post" x="197" y="10" width="5" height="72" rx="2.5"/><circle class="node" cx="192" cy="34" r="4.5"/></svg>`;
