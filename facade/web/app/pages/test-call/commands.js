// The commands that pass: each fills the form, nothing is called by it.
import { html } from '../../html.js';
import { Button } from '../../parts/button.js';

/** The tool that takes them. */
export const COMMAND_TOOL = 'ssh.run_whitelisted_command';

const COMMANDS = ['uptime', 'df -h', 'free -m', 'systemctl status <svc>', 'journalctl -n <1-500>', 'systemctl list-units --type=service'];

/** @param {{onCommand: (command: string) => void}} props */
export const Commands = ({ onCommand }) => html`<div class="row tight" role="group" aria-label="Commands that work">
  ${COMMANDS.map((command) => html`<${Button} key=${command} small onClick=${() => onCommand(command)}><code>${command}</code><//>`)}</div>`;
