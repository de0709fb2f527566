// The fleet in four figures.

import { html } from '../../html.js';
import { span } from '../../reading.js';
import { useNow } from '../../use.js';
import { Tile, Tiles } from '../../parts/tiles.js';
import { STALE_MS, median, standing } from './project.js';

/** @typedef {import('./project.js').Project} Project */
/** @typedef {import('./project.js').Relay} Relay */

/** How many need attention, told beside how many are live. @param {{state: string, mismatch: boolean}[]} all */
function rest(all) {
  const bad = all.filter((one) => standing(one).shade === 'bad').length;
  const off = all.filter(({ state }) => ['offline', 'waiting', 'silent'].includes(state)).length;
  const words = [bad && `${bad} ${bad === 1 ? 'needs' : 'need'} attention`, off && `${off} not connected`].filter(Boolean);
  return { note: words.join(' · ') || 'all as they should be', state: bad ? 'bad' : undefined };
}

/** @param {{projects: Project[], relays: Relay[]}} props */
export function Figures({ projects, relays }) {
  const now = useNow(1000);
  const live = projects.filter(({ state }) => state === 'live');
  const up = relays.filter(({ state, latencyMs }) => state === 'live' && latencyMs !== undefined);
  const times = up.map(({ latencyMs }) => Number(latencyMs));
  const slowest = [...up].sort((a, b) => Number(b.latencyMs) - Number(a.latencyMs))[0];
  const told = live.filter(({ lastEvent }) => lastEvent).sort((a, b) => a.lastEvent.localeCompare(b.lastEvent));
  const oldest = told[0];
  const age = oldest ? Math.max(0, Math.round((now - Date.parse(oldest.lastEvent)) / 1000)) : undefined;
  const [figure = '–', unit = ''] = age === undefined ? [] : span(age).split(' ');
  const main = projects.find(({ isDefault }) => isDefault);
  const middle = median(times);
  return html`<${Tiles} label="Fleet now" four>
    <${Tile} label="Projects live" value=${live.length} unit=${`of ${projects.length}`} note=${main ? `default: ${main.name}` : 'no default project'} />
    <${Tile} label="Relays live" value=${relays.filter(({ state, mismatch }) => state === 'live' && !mismatch).length} unit=${`of ${relays.length}`} ...${rest(relays)} />
    <${Tile} label="Uplink round trip" value=${middle === undefined ? '–' : middle < 1 ? '< 1' : Math.round(middle)} unit=${middle === undefined ? '' : 'ms median'}
      note=${slowest ? `slowest ${slowest.name}, ${Math.max(1, Math.round(Number(slowest.latencyMs)))} ms` : 'no heartbeat yet'} />
    <${Tile} label="Oldest last event" value=${figure} unit=${unit && `${unit} ago`} note=${oldest ? oldest.name : 'no event was told yet'}
      state=${age !== undefined && age * 1000 > STALE_MS ? 'warn' : undefined} />
  <//>`;
}
