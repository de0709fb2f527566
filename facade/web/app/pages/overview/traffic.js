// Calls per minute and p95 by tool, as they come.

import { html, useMemo, useState } from '../../html.js';
import { Badge } from '../../parts/badge.js';
import { Card } from '../../parts/card.js';
import { Chart } from '../../parts/chart.js';
import { Empty } from '../../parts/empty.js';
import { Segmented } from '../../parts/field.js';
import { Skeleton } from '../../parts/skeleton.js';
import { APART, apart, called, rates, sum, ticks, times } from './figures.js';

/** Spans to look at; the gateway remembers three hours. */
export const SPANS = [
  { value: '15', label: '15 min', words: '15 min' }, { value: '60', label: '1 h', words: '1 h' }, { value: '180', label: '3 h', words: '3 h' },
];

/**
 * @param {{overview: import('./figures.js').Overview|undefined, span: string, setSpan: (span: string) => void, live: boolean}} props
 */
export function Traffic({ overview, span, setSpan, live }) {
  const [view, setView] = useState('calls');
  const drawn = useMemo(() => overview && draw(overview, view), [overview, view]);
  const words = SPANS.find((each) => each.value === span)?.words;
  const title = view === 'calls' ? 'Calls per minute' : 'p95 by tool';
  const actions = html`
    <${Segmented} label="What is drawn" value=${view} onChange=${setView} options=${[{ value: 'calls', label: 'Calls' }, { value: 'p95', label: 'p95' }]} />
    <${Segmented} label="Range" value=${span} onChange=${setSpan} options=${SPANS} />`;
  return html`<${Card} title=${html`${title} ${live && html`<${Badge} state="live">live<//>`}`} actions=${actions}>
    ${drawn?.empty ? html`<div class="no-calls"><${Empty} icon="overview" title=${`No call in the last ${words}`} text="Each call appears here within two seconds." /></div>`
    : drawn ? html`<${Chart} key=${`${view}${span}`} ...${drawn} height=${184} />` : html`<${Skeleton} block />`}<//>`;
}

/** @param {import('./figures.js').Overview} o @param {string} view */
function draw(o, view) {
  const counts = view === 'calls';
  // One tool alone is all tools.
  const tools = apart(o, counts ? APART - 1 : APART).filter((_, __, all) => !counts || all.length > 1);
  // Times are no amounts: nothing is filled below them.
  const lines = tools.map((tool, at) => ({
    label: called(tool.name), kind: at === tools.length - 1 && o.tools.length > tools.length ? 'rest' : 'line',
    values: counts ? rates(o, tool.calls) : tool.p95Ms.map((ms) => (ms === null ? null : Math.round(ms))),
  }));
  const series = counts ? [{ label: o.tools.length === 1 ? called(o.tools[0]?.name ?? '') : 'all tools', kind: 'area', values: rates(o, o.calls) }, ...lines] : lines;
  const marks = counts ? ticks(o) : [];
  return { series, times: times(o), unit: counts ? '' : 'ms', whole: true, marks, empty: sum(o.calls) + sum(o.refused) === 0 };
}
