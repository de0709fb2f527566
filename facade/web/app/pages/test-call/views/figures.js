// Figures as people read them: bytes, shares, spans of time. Text only.
import { digits } from '../../../exact.js';

const THIN = ' ';

/** @param {unknown} bytes */
export function size(bytes) {
  if (typeof bytes !== 'number') return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = bytes;
  let unit = 0;
  for (; Math.abs(value) >= 1024 && unit < units.length - 1; unit += 1) value /= 1024;
  return `${value >= 100 || unit === 0 ? value.toFixed(0) : value.toFixed(1)}${THIN}${units[unit]}`;
}

/** @param {unknown} bytes */
export function gib(bytes) {
  if (typeof bytes !== 'number') return '–';
  const value = bytes / 2 ** 30;
  return value === 0 ? '0' : value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '');
}

/** @param {unknown} share 0 to 1 */
export function percent(share) {
  return typeof share === 'number' ? `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}${THIN}%` : '–';
}

/** @param {unknown} seconds */
export function span(seconds) {
  if (typeof seconds !== 'number' || seconds <= 0) return '–';
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  if (days) return `${days} d ${hours} h`;
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`;
}

/** Milliseconds as the bar of a result shows them. @param {number|null} ms */
export function took(ms) {
  if (ms === null) return '–';
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Anything that stands in one cell. @param {unknown} value */
export function plain(value) {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object' && !('rawJSON' in value)) return JSON.stringify(value);
  return digits(value);
}
