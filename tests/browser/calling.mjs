// Journey 2 and the edges of a call, as the page shows them: what is asked, how it goes on, what came, and its row.
import { api, browse, must, open, settled, signIn, step, told, visitor } from './session.mjs';

/** A tool with its arguments filled in, by its address. */
export function call(tool, args = {}, target = '') {
  const query = new URLSearchParams({ tool, arguments: JSON.stringify(args), ...(target ? { target } : {}) });
  return `/test-call?${query}`;
}

const walks = {
  /** What a call looks like that comes to its answer. */
  async answers(page) {
    await step('a tool is found by its words and its form comes from its schema', async () => {
      await open(page, '/test-call');
      await page.getByLabel('Search tools').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('workflow run');
      await page.keyboard.press('Enter');
      await page.locator('#a-run_id').waitFor();
      await page.locator('#a-owner').waitFor();
    });
    await step('an argument that is missing is told at its field', async () => {
      await page.keyboard.press('Control+Enter');
      await page.getByText('this one is needed').first().waitFor();
      must(await page.locator('#a-run_id').getAttribute('aria-invalid') === 'true', 'the field is not marked');
    });
    await step('a live answer has no age', async () => {
      await open(page, call('ssh.run_whitelisted_command', { command: 'uptime' }));
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      const result = page.getByRole('region', { name: 'Result' });
      await result.getByText('success').waitFor();
      await result.getByText('load average').first().waitFor();
      await result.getByText('live', { exact: true }).waitFor();
      must(!(await result.textContent()).includes('cached'), 'a live answer is called cached');
    });
    await step('an inventory that was asked for before says its age, which goes on', async () => {
      await open(page, call('github.list_repos'));
      const result = page.getByRole('region', { name: 'Result' });
      await page.keyboard.press('Control+Enter');
      await result.getByText('success').waitFor();
      must(!(await result.textContent()).includes('cached'), 'the first answer is called cached');
      await result.getByRole('button', { name: 'Again' }).click();
      await result.getByText(/cached [0-9]+ s ago/).waitFor();
      await page.waitForFunction(() => /cached [1-9][0-9]* s ago/.test(document.querySelector('main').textContent));
    });
    await step('the result links to its row on the record', async () => {
      const result = page.getByRole('region', { name: 'Result' });
      await result.getByRole('link', { name: /Audit row/ }).click();
      await page.waitForURL(/\/audit/);
      await settled(page);
      await page.getByText('github.list_repos').first().waitFor();
    });
    await step('metrics are drawn', async () => {
      if (!told.proxmox) return;
      await open(page, call('proxmox.get_node_metrics', { node: told.proxmox.node }));
      await page.keyboard.press('Control+Enter');
      await page.getByRole('region', { name: 'Result' }).locator('canvas').first().waitFor();
    });
    await step('every copied command does the same', async () => {
      await open(page, call('ssh.run_whitelisted_command', { command: 'df -h' }));
      const seen = [];
      for (const name of ['curl', 'grpcurl', 'MCP', 'OpenAI']) {
        await page.getByRole('button', { name: 'Copy as' }).click();
        await page.getByRole('button', { name, exact: true }).or(page.getByRole('menuitem', { name, exact: true })).first().click();
        await page.getByText(`Copied as ${name}`).last().waitFor();
        seen.push({ name, text: await page.evaluate(() => navigator.clipboard.readText()) });
      }
      const { execFileSync } = await import('node:child_process');
      for (const { name, text } of seen.filter((it) => it.name !== 'grpcurl')) {
        const said = execFileSync('bash', ['-c', text], { env: { ...process.env, TOOLGATE_TOKEN: told.token }, encoding: 'utf8' });
        must(said.includes('Filesystem'), `${name} said ${said}`);
      }
      must(seen[1].text.includes('SshService/RunWhitelistedCommand'), seen[1].text);
    });
    await step('calls of this browser are remembered, results are not', async () => {
      const kept = await page.evaluate(() => Object.entries(localStorage).flat().join('\n'));
      must(kept.includes('github.list_repos') && !kept.includes('load average'), kept.slice(0, 500));
    });
  },

  /** What is refused before anything is contacted. */
  async refusals(page) {
    const result = page.getByRole('region', { name: 'Result' });
    await step('a write attempt is refused, with its reason and its row', async () => {
      await open(page, call('proxmox.shutdown_vm', { vmid: 100 }));
      await page.keyboard.press('Control+Enter');
      await result.getByText('WRITE_REJECTED').first().waitFor();
      const { events } = await api('GET', '/api/audit/events?event=adapter.write_rejected');
      must(events.length === 1 && events[0].capability === 'proxmox.shutdown_vm', JSON.stringify(events));
    });
    await step('a foreign command is refused, and those that work are offered', async () => {
      await open(page, call('ssh.run_whitelisted_command', { command: 'rm -rf /' }));
      await page.keyboard.press('Control+Enter');
      await result.getByText('WRITE_REJECTED').first().waitFor();
      await result.getByRole('button', { name: 'uptime' }).click();
      must(await page.locator('#a-command').inputValue() === 'uptime', 'the command is not put in');
    });
    await step('with several targets one must be chosen', async () => {
      await open(page, call('gitea.list_repos'));
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await result.getByText('TARGET_REQUIRED').first().waitFor();
      must(await page.getByLabel(/^Target/).getAttribute('aria-invalid') === 'true', 'the field is not marked');
      await page.getByLabel(/^Target/).selectOption({ label: 'second' });
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await result.getByText('success').waitFor();
    });
  },

  /** A target that says nothing: it is given up, or the call is taken back. */
  async silence(page) {
    const result = page.getByRole('region', { name: 'Result' });
    await step('a call is cancelled, and stops', async () => {
      await open(page, call('github.get_recent_ci_runs', { owner: 'acme', repo: 'shop' }));
      await page.keyboard.press('Control+Enter');
      await result.getByRole('button', { name: 'Cancel' }).click();
      await result.getByText('You cancelled it.').waitFor();
      const { events } = await api('GET', '/api/audit/events?tool=github.get_recent_ci_runs');
      must(events.length === 0, `a read that was taken back has a row: ${JSON.stringify(events)}`);
    });
    await step('a silent target is given up after ten seconds', async () => {
      await page.keyboard.press('Control+Enter');
      await result.getByText('UPSTREAM_TIMEOUT').first().waitFor();
      const { events } = await api('GET', '/api/audit/events?tool=github.get_recent_ci_runs');
      must(events.length === 1 && events[0].result === 'failure', JSON.stringify(events));
    });
  },

  /** Whose credential is gone. */
  async secret(page) {
    await step('a credential that cannot be had is told as such', async () => {
      await open(page, call('github.get_recent_ci_runs', { owner: 'acme', repo: 'shop' }));
      await page.keyboard.press('Control+Enter');
      const result = page.getByRole('region', { name: 'Result' });
      await result.getByText('SECRET_UNAVAILABLE').first().waitFor();
      await result.getByRole('link', { name: /connection|Adapters/ }).waitFor();
    });
  },

  /** Over its limit. */
  async limit(page) {
    await step('who is over the limit sees when to go on', async () => {
      await open(page, call('ssh.run_whitelisted_command', { command: 'uptime' }));
      await page.keyboard.press('Control+Enter');
      const result = page.getByRole('region', { name: 'Result' });
      await result.getByText('RATE_LIMITED').first().waitFor();
      await result.getByRole('button', { name: /Call again in [0-9]+ s/ }).waitFor();
      await result.getByRole('button', { name: 'Call again', exact: true }).click();
      await result.getByText('success').waitFor();
    });
  },
};

await browse(async (browser) => {
  const { page, seen } = await visitor(browser);
  await signIn(page);
  await walks[told.walk](page);
  await step('nothing else was asked, and nothing went wrong on the page', () => {
    must(seen.foreign.length === 0 && seen.errors.length === 0, [...seen.foreign, ...seen.errors].join('\n'));
  });
});
