// The pipelines of all projects, asked at once. Each asking is a call on the record, so it is asked once and when wanted.

import { html, useCallback, useEffect, useState } from '../../html.js';
import { post } from '../../api.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Refusal } from '../../parts/note.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Ago, Duration } from '../../parts/time.js';

/** @typedef {{stage: string, count: number}} Count */
/** @typedef {{id: string, title: string, stage: string, state: string}} Item */
/** @typedef {{name: string, ok: boolean, why?: string, stages?: Count[], attention?: Item[]}} Pipeline */
/** @typedef {{projects: Pipeline[], totals: Count[]}} Found */

const TOOL = 'aggregate_pipeline_status';
/** Shades of stages, in the order they appear; what comes after shares the last one. */
const SHADES = ['s1', 's2', 's3', 's4'];

/** All stages in the order in which projects tell them. @param {Pipeline[]} projects @returns {string[]} */
const stagesOf = (projects) => [...new Set(projects.flatMap(({ stages = [] }) => stages.map(({ stage }) => stage)))];

/** @param {string[]} stages @param {string} stage */
const shadeOf = (stages, stage) => SHADES[Math.min(stages.indexOf(stage), SHADES.length - 1)] ?? 's1';

/** @param {{pipeline: Pipeline, all: string[]}} props */
function Line({ pipeline: { name, ok, why, stages = [], attention = [] }, all }) {
  const sum = stages.reduce((total, { count }) => total + count, 0);
  if (!ok) {
    return html`<li><span class="strong break">${name}</span><span class="r faint">no answer</span>
      <svg class="bar tall" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"></svg><span class="small faint break full">${why}</span></li>`;
  }
  let x = 0;
  const rects = stages.map(({ stage, count }) => {
    const width = sum ? (count / sum) * 100 : 0;
    const rect = html`<rect key=${stage} x=${x} y="0" width=${width} height="4" class=${shadeOf(all, stage)} />`;
    x += width;
    return rect;
  });
  return html`<li>
    <span class="strong break">${name}</span>
    <span class="r">${sum} ${sum === 1 ? 'item' : 'items'}${attention.length > 0 && html` · <span class="bad">${attention.length} need a look</span>`}</span>
    <svg class="bar tall" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=${`${name}: ${stages.map(({ stage, count }) => `${stage} ${count}`).join(', ')}`}>${rects}</svg>
    ${attention.length > 0 &&
    html`<details class="small full"><summary>${stages.map(({ stage, count }) => `${stage} ${count}`).join(' · ')}</summary>
      <ul class="bullets">${attention.map(({ id, title, stage, state }) => html`<li class="break"><span class="bad">${state}</span> ${id} ${title} <span class="faint">${stage}</span></li>`)}</ul>
    </details>`}
  </li>`;
}

/** @param {{projects: number}} props how many are asked, so that their room is kept */
export function Pipelines({ projects: asked }) {
  const [found, setFound] = useState(/** @type {{answer: Found, ms: number, at: string} | undefined} */ (undefined));
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [busy, setBusy] = useState(false);
  const ask = useCallback(async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const answer = await post('/api/mcp/invoke', { name: TOOL, arguments: {} }, { headers: { prefer: 'wait' } });
      setFound({ answer: answer.structuredContent, ms: answer.durationMs, at: new Date().toISOString() });
    } catch (refused) {
      setProblem(refused);
    }
    setBusy(false);
  }, []);
  useEffect(() => { ask(); }, []);
  const projects = found?.answer.projects ?? [];
  const stages = stagesOf(projects);
  return html`<${Card} title="Pipelines" note=${found && html`asked <${Ago} at=${found.at} />, <${Duration} ms=${found.ms} />`} busy=${busy}
    actions=${html`<${Button} small kind="quiet" icon="reload" busy=${busy} onClick=${ask}>Ask again<//>`}>
    ${problem && html`<${Refusal} problem=${problem} />`}
    ${!found && !problem && html`<${Skeleton} lines=${2 * asked} />`}
    ${found && html`<ul class="bars">${projects.map((pipeline) => html`<${Line} key=${pipeline.name} pipeline=${pipeline} all=${stages} />`)}</ul>`}
    ${stages.length > 0 && html`<div class="legend-row">${stages.map((stage) => html`<span key=${stage}><i class=${shadeOf(stages, stage)}></i>${stage}</span>`)}</div>`}
  <//>`;
}
