// The first project: a name, and the line that brings it in.

import { html, useState } from '../../html.js';
import { post } from '../../api.js';
import { go } from '../../router.js';
import { may } from '../../session.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Code } from '../../parts/code.js';
import { Empty } from '../../parts/empty.js';
import { Field, TextInput } from '../../parts/field.js';
import { Refusal } from '../../parts/note.js';
import { keep } from '../adapters/enrolments.js';

const TEXT = 'A project brings its own tools through one outbound connection. Start the relay beside its server and it appears here.';

/** The lines of the command line that do the same. @param {string} name */
const lines = (name) => `toolgate fleet add ${name || 'storefront'}\ntoolgate relay project --gateway ${location.origin} --name ${name || 'storefront'} -- ./your-mcp-server`;

export function FirstUplink() {
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const wrong = problem?.violations?.find((/** @type {{pointer: string}} */ { pointer }) => pointer === '/name')?.message;
  const register = async (/** @type {Event} */ event) => {
    event.preventDefault();
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
          html`<div class="affix"><${TextInput} id=${id} describedBy=${describedBy} invalid=${!!wrong} mono value=${name} placeholder="storefront" maxlength="40" onChange=${setName} />
            <${Button} kind="primary" type="submit" busy=${busy} disabled=${!name}>Get the start line<//></div>`}
      <//>
      ${problem && !wrong && html`<${Refusal} problem=${problem} />`}
      <${Code} head="or on the command line" label="Commands" text=${lines(name)} />
    </form>`}
  <//>`;
}
