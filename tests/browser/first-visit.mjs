// What somebody new gets done from the pages with nothing but the README: the checklist of docs/guide.md, line by line.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { api, browse, figure, must, open, settled, shot, step, told, visitor } from './session.mjs';

/** The client that many have. */
const load = (name) => import(pathToFileURL(createRequire(pathToFileURL(`${process.env.MCP_PACKAGES}/`)).resolve(name)));

const [signedIn, called, added, aged, proved, connected] = told.checklist;

await browse(async (browser) => {
  const began = Date.now();
  const { page, seen, context } = await visitor(browser);

  await step(signedIn, async () => {
    await page.goto(told.link);
    await page.waitForURL((url) => url.pathname === '/');
    await settled(page);
    await shot(page, 'first-visit');
    const other = await visitor(browser);
    await other.page.goto(told.link);
    await other.page.getByText('This link no longer works').waitFor();
    await other.context.close();
    const cookies = await context.cookies();
    const session = cookies.find((cookie) => cookie.name === '__Host-toolgate');
    must(session?.httpOnly && session.secure && session.sameSite === 'Lax' && session.path === '/', JSON.stringify(cookies));
    const { code } = await api('POST', '/api/sign-in/code');
    await page.goto(`${told.url}/sign-in#code=${code}`);
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await settled(page);
    must((await context.cookies()).find((cookie) => cookie.name === '__Host-toolgate').value === session.value, 'the link was taken unasked');
    must(!(await page.evaluate(() => document.cookie)).includes('tgs_'), 'a script can read the session');
  });

  await step(called, async () => {
    await page.getByRole('link', { name: 'Call it here' }).or(page.getByRole('button', { name: 'Call it here' })).first().click();
    await page.waitForURL(/\/test-call/);
    await settled(page);
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('load average').first().waitFor();
    await result.getByRole('link', { name: /Audit row/ }).waitFor();
    figure('first_call_ms', Date.now() - began);
    await shot(page, 'first-call');
  });

  await step(added, async () => {
    for (const { type, words, fields, name } of told.systems) {
      await open(page, '/adapters/new');
      await page.getByRole('radio', { name: words }).check({ force: true });
      await page.waitForURL((url) => url.pathname === `/adapters/new/${type}`);
      await settled(page);
      await page.locator('#target-name').fill(name);
      await page.getByText('More settings').click();
      for (const [id, value] of Object.entries(fields)) await page.locator(`#${id}`).fill(value);
      await page.getByRole('button', { name: 'Check and save' }).click();
      await page.getByText('Authenticated').first().waitFor();
      await page.getByText('Saved.').waitFor();
    }
    await open(page, '/adapters');
    for (const { name } of told.systems) await page.getByRole('article', { name }).getByText(/healthy|ready/i).first().waitFor();
    await shot(page, 'adapters');
  });

  await step(aged, async () => {
    await open(page, `/test-call?tool=${told.inventory}`);
    const result = page.getByRole('region', { name: 'Result' });
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await result.getByText('success').waitFor();
    await result.getByRole('button', { name: 'Again' }).click();
    await result.getByText(/cached [0-9]+ s ago/).waitFor();
    await page.waitForFunction(() => /cached [2-9] s ago/.test(document.querySelector('main').textContent));
    await shot(page, 'inventory');
  });

  await step(proved, async () => {
    await open(page, '/audit');
    await page.getByRole('button', { name: /^Verify/ }).first().click();
    await page.getByText(/^Intact through row [0-9]/).first().waitFor();
    await shot(page, 'audit');
    await page.getByRole('button', { name: /Export/ }).first().click();
    const choice = page.getByRole('button', { name: 'NDJSON, manifest, checkpoints' }).or(page.getByRole('menuitem', { name: 'NDJSON, manifest, checkpoints' })).first();
    const [file] = await Promise.all([page.waitForEvent('download'), choice.click()]);
    await file.saveAs(told.archive);
    must(fs.statSync(told.archive).size > 1000, 'the archive is empty');
  });

  await step(connected, async () => {
    await open(page, '/?connect=cursor');
    await page.getByRole('button', { name: 'Make the token' }).click();
    await page.getByText('Made and put in.').waitFor();
    const given = JSON.parse(await page.getByLabel('mcp.json', { exact: true }).textContent()).mcpServers.toolgate;
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const client = new Client({ name: 'first-visit', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers: given.headers } }));
    const { tools } = await client.listTools();
    must(tools.some((tool) => tool.name === 'ssh_run_whitelisted_command'), JSON.stringify(tools.map((tool) => tool.name)));
    const answer = await client.callTool({ name: 'ssh_run_whitelisted_command', arguments: { command: 'uptime' } });
    must(JSON.stringify(answer).includes('load average'), JSON.stringify(answer));
    await client.close();
  });

  figure('whole_visit_ms', Date.now() - began);
  must(seen.foreign.length === 0 && seen.errors.length === 0, [...seen.foreign, ...seen.errors].join('\n'));
});
