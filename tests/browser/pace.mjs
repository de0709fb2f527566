// How much a page weighs, when it first shows something, whether it jumps, and how soon an event is on it. Bytes and jumps are
// judged; times are told, because they are the machine's.
import { browse, figure, must, open, settled, signIn, step, told, visitor } from './session.mjs';

const PAGES = ['/', '/adapters', '/test-call', '/tools', '/audit', '/fleet', '/access'];
const HEAVIEST = 150_000;
const SHIFT = 0.02;

await browse(async (browser) => {
  await step('a page weighs less than 150 kB and does not jump', async () => {
    const paints = [];
    for (const place of PAGES) {
      const { page, context } = await visitor(browser, { reduced: 'no-preference' });
      await signIn(page);
      // What the sign-in loaded is not there for a first visit.
      const session = await context.newCDPSession(page);
      await session.send('Network.enable');
      await session.send('Network.clearBrowserCache');
      let bytes = 0;
      session.on('Network.loadingFinished', (it) => { bytes += it.encodedDataLength; });
      await page.addInitScript(() => {
        globalThis.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
        }).observe({ type: 'layout-shift', buffered: true });
      });
      await open(page, place);
      const weight = bytes;
      // Two of the beats in which pages renew what is live.
      await page.waitForFunction((since) => performance.now() > since + 4500, await page.evaluate(() => performance.now()));
      const { shift, paint } = await page.evaluate(() => ({
        shift: globalThis.shift,
        paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
      }));
      figure(place, { bytes: weight, shift, first_paint_ms: Math.round(paint) });
      must(weight < HEAVIEST, `${place} weighs ${weight} bytes`);
      must(shift <= SHIFT, `${place} jumps by ${shift}`);
      paints.push(paint);
      await context.close();
    }
    figure('slowest_first_paint_ms', Math.round(Math.max(...paints)));
  });

  await step('an event is on the page when another reader has it', async () => {
    const { page } = await visitor(browser);
    await signIn(page);
    const behind = [];
    for (let round = 0; round < 5; round++) {
      await open(page, `/test-call?tool=github.get_recent_ci_runs&arguments=${encodeURIComponent('{"owner":"acme","repo":"shop"}')}`);
      await page.evaluate(() => {
        globalThis.shownAt = null;
        const look = () => {
          if (globalThis.shownAt === null && /success/.test(document.querySelector('section[aria-label="Result"]')?.textContent ?? '')) globalThis.shownAt = Date.now();
        };
        new MutationObserver(look).observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
      });
      const [answer] = await Promise.all([
        page.waitForResponse((it) => it.url().endsWith('/api/mcp/invoke')),
        page.keyboard.press('Control+Enter'),
      ]);
      const { streamUrl } = await answer.json();
      const heardAt = await heard(streamUrl);
      await page.waitForFunction(() => globalThis.shownAt !== null);
      behind.push(await page.evaluate(() => globalThis.shownAt) - heardAt);
    }
    behind.sort((a, b) => a - b);
    figure('event_shown_after_ms', behind);
  });
});

/** When a plain reader of the same stream has its result. */
async function heard(streamUrl) {
  const answer = await fetch(told.url + streamUrl, { headers: { authorization: `Bearer ${told.token}` } });
  must(answer.ok, `the stream answers ${answer.status}`);
  let text = '';
  for await (const part of answer.body) {
    text += Buffer.from(part).toString('utf8');
    if (text.includes('event: tool_result')) return Date.now();
  }
  throw new Error(`no result in ${text}`);
}
