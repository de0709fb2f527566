// Figures and times as people read them. Text only.

/** @param {number} at @param {number} now both in milliseconds */
export function ago(at, now) {
  if (Number.isNaN(at)) return 'unknown';
  const seconds = Math.round((now - at) / 1000);
  if (seconds < -1) return `in ${span(-seconds)}`;
  if (seconds < 2) return 'just now';
  return `${span(seconds)} ago`;
}

/** A stretch of time in its largest unit. @param {number} seconds */
export function span(seconds) {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

/** @param {number | null | undefined} ms */
export function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '–';
  if (ms < 1) return ms === 0 ? '0 ms' : '< 1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10000) return `${(ms / 1000).toFixed(1)} s`;
  return span(Math.round(ms / 1000));
}

/** @param {Date} time */
export const clock = (time) => (Number.isNaN(time.getTime()) ? 'unknown' : time.toISOString().slice(11, 19));

/** @param {Date} time */
export const day = (time) => (Number.isNaN(time.getTime()) ? '' : time.toISOString().slice(0, 10));

/** @param {number | null | undefined} value */
export const figure = (value) => (value === null || value === undefined ? '–' : value.toLocaleString('en-GB'));

/** @param {number | null | undefined} value */
export function bytes(value) {
  if (value === null || value === undefined) return '–';
  if (value < 1024) return `${value} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const at = Math.min(units.length, Math.floor(Math.log2(value) / 10));
  const part = value / 1024 ** at;
  return `${part < 10 ? part.toFixed(1) : Math.round(part)} ${units[at - 1]}`;
}
