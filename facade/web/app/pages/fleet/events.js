// What the servers of projects told lately, all together. A project is asked only once it says that there is something new.

import { html, useEffect, useRef, useState } from '../../html.js';
import { get } from '../../api.js';
import { Badge } from '../../parts/badge.js';
import { Card } from '../../parts/card.js';
import { Empty } from '../../parts/empty.js';
import { EventLog } from '../../parts/log.js';
import { Clock } from '../../parts/time.js';
import { pathOf, told } from './project.js';

/** @typedef {import('./project.js').Project} Project */
/** @typedef {import('./project.js').Event & {project: string}} Told */

/** Lines that are shown. */
const SHOWN = 12;

/** @param {Project[]} projects @returns {Told[]} the newest first */
function useEvents(projects) {
  const heard = useRef(/** @type {Map<string, {last: string, events: Told[]}>} */ (new Map()));
  const [, setRound] = useState(0);
  const news = projects.filter(({ name, lastEvent }) => lastEvent && heard.current.get(name)?.last !== lastEvent);
  const key = news.map(({ name, lastEvent }) => name + lastEvent).join();
  useEffect(() => {
    for (const { name, lastEvent } of news) {
      // Noted before it is asked, so that a slow answer is not asked for again.
      heard.current.set(name, { last: lastEvent, events: heard.current.get(name)?.events ?? [] });
      get(pathOf(name)).then(
        ({ events }) => {
          heard.current.set(name, { last: lastEvent, events: events.map((/** @type {any} */ event) => ({ ...event, project: name })) });
          setRound((round) => round + 1);
        },
        // A project that was removed meanwhile tells nothing more.
        () => heard.current.delete(name),
      );
    }
  }, [key]);
  return [...heard.current.values()].flatMap(({ events }) => events).sort((a, b) => b.at.localeCompare(a.at)).slice(0, SHOWN);
}

/** One line of the log. @param {import('./project.js').Event} event @param {string} [project] */
export function line(event, project) {
  const { text, detail } = told(event);
  return { id: `${project ?? ''}${event.at}${event.method}`, t: html`<${Clock} at=${event.at} />`, kind: 'fleet', text: project ? html`<b>${project}</b> ${text}` : text, detail };
}

/** @param {{projects: Project[]}} props */
export function Events({ projects }) {
  const events = useEvents(projects);
  return html`<${Card} title="Events" actions=${html`<${Badge} state="live">live<//>`} flush>
    ${events.length
      ? html`<${EventLog} events=${events.map((event) => line(event, event.project))} label="Events of projects" />`
      : html`<${Empty} icon="clock" title="No event yet" text="What the servers of projects tell outside of calls appears here as it comes." />`}
  <//>`;
}
