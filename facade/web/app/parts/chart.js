// Lines over time, drawn by uPlot, which is loaded with the first chart. Colours come from the tokens.
import { html, useEffect, useRef, useState } from '../html.js';
import { theme } from '../theme.js';
import { clock } from '../reading.js';

/** @typedef {{label: string, values: (number | null)[], kind?: 'line' | 'area' | 'rest'}} Series rest: several as one */

/** Lines are told apart by their colour and by their dashes: the last is for what stands for several. */
const TONES = 6;
/** In pixels; as the keys of the legend have them in app.css. @type {number[][]} */
const DASHES = [[], [6, 3], [2, 3], [9, 3, 2, 3], [4, 2], [1, 3]];

/** @type {Promise<any> | undefined} */
let plot;

/** The library and its style sheet, once; tried again with the next chart where they did not come. */
function loaded() {
  plot ??= Promise.all([sheet(), script()]).then(() => /** @type {any} */ (globalThis).uPlot, (error) => {
    plot = undefined;
    throw error;
  });
  return plot;
}

function sheet() {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL('../../vendor/uplot.css', import.meta.url).href;
  return added(link);
}

/** The published build that is small is no module: it sets one name. */
function script() {
  const element = document.createElement('script');
  element.src = new URL('../../vendor/uplot.js', import.meta.url).href;
  return added(element);
}

/** @param {HTMLLinkElement | HTMLScriptElement} element @returns {Promise<void>} */
function added(element) {
  return new Promise((resolve, reject) => {
    element.onload = () => resolve();
    element.onerror = () => {
      element.remove();
      reject(new Error('a file of the chart did not come'));
    };
    document.head.append(element);
  });
}

/**
 * @param {{series: Series[], times: number[], unit?: string, height?: number, marks?: number[], label?: string, format?: (value: number) => string, whole?: boolean}} props
 *   whole: the axis has whole numbers only; times: milliseconds; marks: times of refusals, red ticks at the foot; label: what a listener is told
 */
export function Chart({ series, times, unit = '', height = 184, marks = [], label, format, whole = false }) {
  const room = useRef(/** @type {HTMLElement | null} */ (null));
  const chart = useRef(/** @type {any} */ (null));
  const [failed, setFailed] = useState(false);
  const shape = `${series.map((each) => each.label + each.kind).join('|')}|${unit}|${height}|${theme.value}`;
  const now = useRef({ marks, format });
  now.current = { marks, format };
  const data = () => [times.map((time) => time / 1000), ...series.map((each) => each.values)];
  useEffect(() => {
    let gone = false;
    /** @type {ResizeObserver | undefined} */
    let watch;
    loaded().then((Plot) => {
      if (gone || !room.current) return;
      chart.current = new Plot(optionsOf({ series, unit, height, width: room.current.clientWidth, whole, now }), data(), room.current);
      watch = new ResizeObserver(() => chart.current?.setSize({ width: room.current?.clientWidth ?? 0, height }));
      watch.observe(room.current);
    }, () => setFailed(true));
    return () => { gone = true; watch?.disconnect(); chart.current?.destroy(); chart.current = null; };
  }, [shape]);
  useEffect(() => { chart.current?.setData(data()); }, [times, series, marks]);
  return html`
    <figure class="stack tight">
      <div class="uplot-room" ref=${room} role="img" aria-label=${label ?? told(series, unit)} data-height=${height}></div>
      ${failed && html`<p class="help">The chart could not be drawn; the figures are in the table.</p>`}
      <figcaption class="legend-row">
        ${series.map((each, at) => html`<span class="break"><svg class=${`key k${toneOf(each, at) + 1}`} viewBox="0 0 22 4" aria-hidden="true"><path d="M0 2H22"/></svg>${each.label}</span>`)}${marks.length > 0 && html`<span><i class="cb"></i>refused</span>`}
      </figcaption>
    </figure>`;
}

/** @param {Series} each @param {number} at */
const toneOf = (each, at) => (each.kind === 'rest' ? TONES - 1 : Math.min(at, TONES - 1));

/** @param {Series[]} series @param {string} unit */
const told = (series, unit) => series.map((each) => {
  const known = each.values.filter((value) => value !== null);
  return `${each.label}: now ${known.at(-1) ?? 'unknown'} ${unit}, at most ${known.length ? Math.max(.../** @type {number[]} */ (known)) : 'unknown'}`;
}).join('; ');

/** A token's colour as the canvas needs it. @param {string} name */
export function colour(name) {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Steps of an axis of counts. */
const WHOLE = Array.from({ length: 9 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** @param {{series: Series[], unit: string, height: number, width: number, whole: boolean, now: {current: {marks: number[], format?: (value: number) => string}}}} asked */
function optionsOf({ series, unit, height, width, whole, now }) {
  const lines = Array.from({ length: TONES }, (_, at) => colour(`--series-${at + 1}`));
  const text = colour('--text-3');
  const grid = { stroke: colour('--plot-grid'), width: 1 };
  const bad = colour('--bad');
  const read = (/** @type {number | null} */ value) => (value === null || value === undefined ? '–' : `${now.current.format ? now.current.format(value) : Math.round(value * 100) / 100}${unit ? ` ${unit}` : ''}`);
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  return {
    width, height, padding: [8, 16, 0, 0],
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (/** @type {any} */ _, /** @type {number} */ __, /** @type {number | null} */ most) => [0, Math.max(1, most ?? 1) * 1.08] } },
    axes: [
      { stroke: text, font, grid: { show: false }, ticks: { show: false }, size: 24, values: (/** @type {any} */ _, /** @type {number[]} */ at) => at.map((each) => clock(new Date(each * 1000)).slice(0, 5)) },
      { stroke: text, font, grid, ticks: { show: false }, size: 44, ...(whole && { incrs: WHOLE }), values: (/** @type {any} */ _, /** @type {number[]} */ at) => at.map((each) => (now.current.format ? now.current.format(each) : String(each))) },
    ],
    series: [{}, ...series.map((each, at) => ({
      label: each.label, width: 1.5, points: { show: true, size: 5, filter: alone },
      stroke: lines[toneOf(each, at)], dash: DASHES[toneOf(each, at)],
      fill: each.kind === 'area' || (at === 0 && !each.kind) ? colour('--plot-fill') : undefined,
    }))],
    hooks: {
      draw: [(/** @type {any} */ self) => ticks(self, now.current.marks, bad)],
    },
    plugins: [tip(read)],
  };
}

/** The samples with none beside them: a line would not show them. @param {any} self @param {number} of the series @returns {number[]} */
function alone(self, of) {
  const values = self.data[of];
  const there = (/** @type {number} */ at) => values[at] !== null && values[at] !== undefined;
  return values.flatMap((/** @type {number | null} */ _, /** @type {number} */ at) => (there(at) && !there(at - 1) && !there(at + 1) ? [at] : []));
}

/** Refusals as ticks at the foot. @param {any} self @param {number[]} marks @param {string} stroke */
function ticks(self, marks, stroke) {
  const { ctx, bbox } = self;
  const ratio = devicePixelRatio || 1;
  ctx.save();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = 2 * ratio;
  for (const mark of marks) {
    const x = self.valToPos(mark / 1000, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x, bbox.top + bbox.height - 9 * ratio);
    ctx.stroke();
  }
  ctx.restore();
}

/** What stands beside the pointer. @param {(value: number | null) => string} read */
function tip(read) {
  const box = document.createElement('div');
  box.className = 'tip';
  box.hidden = true;
  return {
    hooks: {
      init: (/** @type {any} */ self) => { self.over.append(box); },
      setCursor: (/** @type {any} */ self) => {
        const { idx, left } = self.cursor;
        box.hidden = idx === null || idx === undefined || left < 0;
        if (box.hidden) return;
        const head = document.createElement('b');
        head.textContent = clock(new Date(self.data[0][idx] * 1000));
        const rows = self.series.slice(1).map((/** @type {any} */ each, /** @type {number} */ at) => {
          const row = document.createElement('div');
          row.textContent = `${each.label} ${read(self.data[at + 1][idx])}`;
          return row;
        });
        box.replaceChildren(head, ...rows);
        const far = left > self.over.clientWidth / 2;
        box.style.left = far ? 'auto' : `${left + 10}px`;
        box.style.right = far ? `${self.over.clientWidth - left + 10}px` : 'auto';
        box.style.top = '8px';
      },
    },
  };
}
