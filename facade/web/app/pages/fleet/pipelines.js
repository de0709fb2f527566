// The pipelines of all projects, asked at once. Asking is a call on the record in the visitor's name, so it waits for a
// click; the last answer is kept in the memory of the page.

import { html, signal, useState } from '../../html.js';
import { post } from '../../api.js';
import { me } from '../../session.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Refusal } from '../../parts/note.js';
import { Skeleton } from '../../parts/skeleton.js';
import { Ago, Duration } from '../../parts/time.js';
import { withPipeline } from './project.js';

/** @typedef {{stage: string, count: number}} Count */
/** @typedef {{id: string, title: string, stage: string, state: string}} Item */
/** @typedef {{name: string, ok: boolean, why?: string, stages?: Count[], attention?: Item[]}} Pipeline */
/** @typedef {{projects: Pipeline[], totals: Count[]}} Found */
/** @typedef {{answer: Found, ms: number, at: string, by: string}} Asked */

const TOOL = 'aggregate_pipeline_status';
/** What was answered last, and to whom. */
const last = signal(/** @type {Asked | undefined} */ (undefined));
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

/** Who looks: an answer is shown to nobody else. */
const visitor = () => `${me.value?.tenantId} ${me.value?.principal}`;

/** @param {{names: string[]}} props projects that tell no pipeline */
const LeftOut = ({ names }) => html`<p class="help">${names.length === 1 ? 'One project has' : `${names.length} projects have`} no tool that tells of a pipeline: ${names.join(', ')}.</p>`;

/** @param {{busy: boolean, onAsk: () => void}} props */
const NotAsked = ({ busy, onAsk }) => html`
  <p class="dim small">Every project is asked by one call of <code>${TOOL}</code> in your name: it is on the record and counts against your limit.</p>
  <div><${Button} icon="call" busy=${busy} onClick=${onAsk}>Ask for pipelines<//></div>`;

/** @param {{found: Asked}} props */
function Answer({ found }) {
  const { told, without } = withPipeline(found.answer.projects);
  const stages = stagesOf(told);
  return html`${told.length > 0 && html`<ul class="bars">${told.map((pipeline) => html`<${Line} key=${pipeline.name} pipeline=${pipeline} all=${stages} />`)}</ul>`}
    ${stages.length > 0 && html`<div class="legend-row">${stages.map((stage) => html`<span key=${stage}><i class=${shadeOf(stages, stage)}></i>${stage}</span>`)}</div>`}
    ${without.length > 0 && html`<${LeftOut} names=${without.map(({ name }) => name)} />`}`;
}

/** @param {{projects: number}} props how many are asked, so that their room is kept */
export function Pipelines({ projects: asked }) {
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [busy, setBusy] = useState(false);
  const ask = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const by = visitor();
      const answer = await post('/api/mcp/invoke', { name: TOOL, arguments: {} }, { headers: { prefer: 'wait' } });
      last.value = { answer: answer.structuredContent, ms: answer.durationMs, at: new Date().toISOString(), by };
    } catch (refused) {
      setProblem(refused);
    }
    setBusy(false);
  };
  const found = last.value?.by === visitor() ? last.value : undefined;
  return html`<${Card} title="Pipelines" note=${found && html`asked <${Ago} at=${found.at} />, <${Duration} ms=${found.ms} />`} busy=${busy}
    actions=${found && html`<${Button} small kind="quiet" icon="reload" busy=${busy} title="One more call on the record, in your name" onClick=${ask}>Ask again<//>`}>
    ${problem && html`<${Refusal} problem=${problem} />`}
    ${!found && html`<${NotAsked} busy=${busy} onAsk=${ask} />`}
    ${!found && busy && html`<${Skeleton} lines=${2 * asked} />`}
    ${found && html`<${Answer} found=${found} />`}
  <//>`;
}
