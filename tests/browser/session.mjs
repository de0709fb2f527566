// A real browser at a real gateway: signed in by the one-time link, watched for everything a page must not do.
//
// A script gets one JSON object as its argument and prints one: `{"walked": [sentence…], "figures": {…}}`. What does not
// hold ends it with an error that names the step.
import { createRequire } from 'node:module';
import path from 'node:path';
import fs from 'node:fs';

const require = createRequire(path.join(process.env.BROWSER_PACKAGES, 'node_modules', 'x.js'));
const { chromium } = require('playwright-core');
export const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** What the test told this script. */
export const told = JSON.parse(process.argv[2]);

const walked = [];
const figures = {};

/** How long anything may take to appear on a busy machine. */
const PATIENCE = 20_000;

/** One step of a walk: a sentence, and what makes it true. */
export async function step(sentence, walk) {
  try {
    const result = await walk();
    walked.push(sentence);
    return result;
  } catch (error) {
    error.message = `${sentence}\n${error.message}`;
    throw error;
  }
}

export function figure(name, value) {
  figures[name] = value;
}

export function must(holds, text) {
  if (!holds) throw new Error(text);
}

/** Opens a browser, runs `walk`, closes it, and prints what was walked. */
export async function browse(walk) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
    ],
  });
  try {
    await walk(browser);
    console.log(JSON.stringify({ walked, figures }));
  } catch (error) {
    for (const [at, context] of browser.contexts().entries()) {
      for (const page of context.pages()) {
        await shot(page, `failed-${path.basename(process.argv[1], '.mjs')}-${at}`).catch(() => {});
      }
    }
    console.error(error.stack ?? error);
    process.exitCode = 1;
  } finally {
    await browser.close();
  }
}

/** A visitor of their own: nothing is shared with others. */
export async function visitor(browser, { width = 1440, height = 900, theme = 'light', reduced = 'reduce' } = {}) {
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: theme, reducedMotion: reduced, permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(PATIENCE);
  const seen = { foreign: [], errors: [] };
  const origin = new URL(told.url).origin;
  context.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) seen.foreign.push(request.url());
  });
  context.on('console', (message) => {
    // What the network says of an answer that is a refusal is no error of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) seen.errors.push(message.text());
  });
  context.on('weberror', (error) => seen.errors.push(String(error.error())));
  const page = await context.newPage();
  return { context, page, seen };
}

/** Signs in with a new one-time link, as the page does it. */
export async function signIn(page, token = told.token) {
  const answer = await fetch(`${told.url}/api/sign-in/code`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
  must(answer.ok, `no sign-in code: ${answer.status}`);
  const { code } = await answer.json();
  await page.goto(`${told.url}/sign-in#code=${code}`);
  await page.waitForURL((url) => url.pathname !== '/sign-in');
  await settled(page);
}

/** Goes to a page of ours and waits until it shows what it has. */
export async function open(page, place) {
  await page.goto(told.url + place);
  await settled(page);
}

/**
 * The page has its heading, nothing is being loaded, and for a fifth of a second nothing was drawn: longer than pages hold
 * back what stands for something that is still to come.
 */
export async function settled(page) {
  await page.locator('main h1').first().waitFor();
  await page.evaluate(() => new Promise((done) => {
    let timer = 0;
    const again = () => {
      clearTimeout(timer);
      timer = setTimeout(look, 200);
    };
    const look = () => {
      if (document.querySelector('main [aria-busy="true"]')) return again();
      observer.disconnect();
      return done();
    };
    const observer = new MutationObserver(again);
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    again();
  }));
}

export async function shot(page, name) {
  await page.screenshot({ path: path.join(told.shots, `${name}.png`), animations: 'disabled' });
}

/** What axe finds that is serious or critical. */
export async function faults(page) {
  // Run by the debugger, whom the policy of the page does not bind.
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations
    .filter((it) => it.impact === 'serious' || it.impact === 'critical')
    .map((it) => `${it.id}: ${it.help}: ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(' | ')}`);
}

/** As a script would ask, beside the page. */
export async function api(method, place, body, token = told.token) {
  const answer = await fetch(told.url + place, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
  const text = await answer.text();
  must(answer.ok, `${method} ${place}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : null;
}
