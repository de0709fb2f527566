// The fleet as it is now: asked every two seconds while the page is looked at.

import { useGet } from '../../use.js';

const EVERY_MS = 2000;

/**
 * @returns {{projects?: import('./project.js').Project[], relays?: import('./project.js').Relay[], error: any, reload: () => void}}
 */
export function useFleet() {
  const projects = useGet('/api/fleet/projects', { every: EVERY_MS });
  const relays = useGet('/api/fleet/relays', { every: EVERY_MS });
  const reload = () => {
    projects.reload();
    relays.reload();
  };
  return { projects: projects.data?.projects, relays: relays.data?.relays, error: projects.error ?? relays.error, reload };
}
