// How often each tool was called in the last hour, and how long that took. The registry stands without it.
import { useGet } from '../../use.js';

/** @typedef {{calls: number, p95: number|null}} Figures */

/** @returns {Map<string, Figures>|null} null while unknown */
export function useFigures() {
  const { data } = useGet('/api/overview', { query: { minutes: 60 }, every: 30_000 });
  if (!data) return null;
  return new Map(data.tools.map((/** @type {{name: string, calls: number[], p95Ms: (number|null)[]}} */ tool) => [tool.name, {
    calls: tool.calls.reduce((sum, step) => sum + Number(step), 0),
    p95: tool.p95Ms.findLast((step) => step !== null) ?? null,
  }]));
}
