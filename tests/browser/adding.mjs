// Journey 1: systems are added, refused, tested, switched off and removed, and a host's relay is seen coming in.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { api, browse, must, open, settled, signIn, step, told, visitor } from './session.mjs';

/** Opens the form of a type and types what is told, by the ids of its fields. */
async function form(page, type, name, fields) {
  await open(page, `/adapters/new/${type}`);
  await page.locator('#target-name').fill(name);
  await page.getByText('More settings').click();
  for (const [id, value] of Object.entries(fields)) await page.locator(`#${id}`).fill(value);
}

const save = (page) => page.getByRole('button', { name: 'Check and save' }).click();
const targets = async () => (await api('GET', '/api/mcp/adapter')).targets.filter((target) => target.type !== 'ssh');
const rows = async (event) => (await api('GET', `/api/audit/events?event=${event}`)).events;

await browse(async (browser) => {
  const { page, seen } = await visitor(browser);
  await signIn(page);

  await step('what is missing is marked before anything is sent', async () => {
    await open(page, '/adapters/new/gitea');
    await save(page);
    await page.locator('#target-name[aria-invalid="true"]').waitFor();
    await page.locator('#config-baseUrl[aria-invalid="true"]').waitFor();
    must((await targets()).length === 0, 'something was stored');
  });

  for (const { type, fields, reason, marked } of told.refused) {
    await step(`a credential that may too much is refused at its field: ${type}`, async () => {
      await form(page, type, 'too-much', fields);
      await save(page);
      await page.getByText(reason).first().waitFor();
      await page.locator(`#${marked}[aria-invalid="true"]`).waitFor();
      must((await targets()).length === 0, 'something was stored');
      const refused = await rows('adapter.configuration_refused');
      must(refused.length >= 1, 'it is not on the record');
    });
  }

  await step('a system is saved after its checks, and tested again', async () => {
    const { type, fields } = told.good;
    await form(page, type, 'forge', fields);
    await save(page);
    await page.getByText('Saved.').waitFor();
    await page.waitForURL(/\/adapters\/[0-9A-Z]{26}$/);
    must((await rows('adapter.configured')).some((row) => row.detail.name === 'forge' || row.targetId), 'it is not on the record');
    // Its row is durable before the answer leaves.
    const answered = page.waitForResponse((it) => it.request().method() === 'POST' && it.url().endsWith('/test'));
    await page.getByRole('button', { name: 'Test connection' }).click();
    must((await (await answered).json()).ok, 'the test did not pass');
    await page.getByText('First read').first().waitFor();
    must((await rows('adapter.test_connection.succeeded')).length >= 1, 'the test is not on the record');
  });

  await step('nothing of a credential is filled back', async () => {
    await page.reload();
    await settled(page);
    const all = await page.evaluate(() => [document.documentElement.outerHTML, ...[...document.querySelectorAll('input, textarea')].map((field) => field.value)].join('\n'));
    must(!all.includes(told.good.fields['credential-token']), 'the token stands on the page');
  });

  await step('a target is switched off and on again', async () => {
    const enabled = page.getByRole('switch', { name: 'Enabled' });
    await enabled.click({ force: true });
    await page.getByText('forge is switched off').waitFor();
    must((await targets())[0].status === 'disabled', JSON.stringify(await targets()));
    await enabled.click({ force: true });
    await page.getByText('forge is switched on').waitFor();
  });

  await step('a target is removed by its name, with what is lost', async () => {
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Its credential and cached answers are deleted now.', { exact: false }).waitFor();
    const last = page.getByRole('button', { name: 'Delete target' });
    must(await last.isDisabled(), 'it can be removed without its name');
    await page.locator('#delete-name').fill('forge');
    await last.click();
    await page.waitForURL((url) => url.pathname === '/adapters');
    must((await targets()).length === 0, 'it is still there');
  });

  await step('a host appears when its relay is started by the line', async () => {
    await open(page, '/adapters/new/ssh');
    await page.locator('#target-name').fill('web-1');
    await page.locator('#config-hostname').fill('web-1');
    await page.getByRole('button', { name: 'Add and get the start line' }).click();
    const line = await page.getByLabel('Relay start command', { exact: true }).textContent();
    const token = /tge_[\w-]+/.exec(line)?.[0];
    must(token && line.includes('relay host'), line);
    const relay = spawn(told.binary, ['relay', 'host', '--gateway', told.url, '--allow-root', '--data-dir', path.join(process.env.HOME, 'relay')], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TOOLGATE_ENROLMENT_TOKEN: token }, stdio: ['ignore', 'ignore', fs.openSync(path.join(process.env.HOME, 'relay.log'), 'w')],
    });
    try {
      await page.getByText('web-1 is here').waitFor();
      await page.getByText('Connected.').waitFor();
      must(!(await page.locator('main').textContent()).includes(token), 'a token that was used is still shown');
    } finally {
      relay.kill();
    }
  });

  await step('nothing else was asked, and nothing went wrong on the page', () => {
    must(seen.foreign.length === 0 && seen.errors.length === 0, [...seen.foreign, ...seen.errors].join('\n'));
  });
});
