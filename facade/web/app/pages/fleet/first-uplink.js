// The first project: a name, and the line that brings it in.

import { html, useState } from '../../html.js';
import { post } from '../../api.js';
import { go } from '../../router.js';
import { may } from '../../session.js';
import { sentence } from '../../refusals.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code } from '../../parts/code.js';
import { Empty } from '../../parts/empty.js';
import { Field, TextInput } from '../../parts/field.js';
import { Refusal } from '../../parts/note.js';
import { keep } from '../adapters/enrolments.js';
import { isProjectName, projectLines } from '../adapters/start-line.js';

const TEXT = 'A project brings its own tools through one outbound connection. Start the relay beside its server and it appears here.';

export function FirstUplink() {
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const refused = problem?.violations?.find((/** @type {{pointer: string}} */ { pointer }) => pointer === '/name')?.message;
  const fits = isProjectName(name);
  const wrong = refused ? sentence(refused) : name && !fits ? 'Small letters a to z, digits and hyphens alone, and no hyphen first.' : undefined;
  const change = (/** @type {string} */ text) => {
    setName(text);
    setProblem(undefined);
  };
  const register = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!fits) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const { project, enrolment } = await post('/api/fleet/projects', { name, config: {} });
      keep(project.id, enrolment);
      go(`/adapters/${project.id}`);
    } catch (refused) {
      setProblem(refused);
      setBusy(false);
    }
  };
  return html`<${Card} title="Projects" flush>
    <${Empty} icon="fleet" title="No project dials in yet" text=${TEXT} />
    ${may('change') &&
    html`<form class="card-body stack first-uplink" onSubmit=${register}>
      <${Field} label="Name" help="What callers name it by: lower case letters, digits and hyphens." error=${wrong} required>
        ${(/** @type {string} */ id, /** @type {string} */ describedBy) =>
          html`<div class="affix"><${TextInput} id=${id} describedBy=${describedBy} invalid=${!!wrong} mono value=${name} placeholder="storefront" maxlength="40" onChange=${change} />
            <${Button} kind="primary" type="submit" busy=${busy} disabled=${!fits}>Get the start line<//></div>`}
      <//>
      ${problem && !refused && html`<${Refusal} problem=${problem} />`}
      <${Code} head="or on the command line" label="Commands" text=${projectLines(refused ? '' : name, location.origin)} wrap />
    </form>`}
  <//>`;
}
