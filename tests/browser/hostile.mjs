// Two hundred hostile texts in results, names and the record: on every page each of them is text, and nothing else.
import { visible } from '../../facade/web/app/visible.js';
import { browse, must, open, signIn, step, told, visitor } from './session.mjs';

await browse(async (browser) => {
  const { page, seen } = await visitor(browser);
  const dialogs = [];
  page.on('dialog', (dialog) => { dialogs.push(dialog.message()); dialog.dismiss(); });
  const hits = [];
  await page.exposeFunction('hit', () => { hits.push(page.url()); });
  await signIn(page);

  /** Nothing ran, nothing was asked for elsewhere, and no markup came of a text. */
  async function calm() {
    const made = await page.evaluate(() => {
      const odd = [...document.querySelectorAll('body iframe, body object, body embed, body img, body base, body meta, body link, body style, body video, body audio, body marquee, body math, body script, body xss')];
      const acting = [...document.querySelectorAll('*')].filter((node) => [...node.attributes].some((it) => it.name.startsWith('on')
        || (['href', 'src', 'action', 'formaction', 'xlink:href'].includes(it.name) && /^\s*(javascript|data|vbscript):/i.test(it.value) && !node.hasAttribute('download'))));
      return [...odd, ...acting].map((node) => node.outerHTML.slice(0, 200));
    });
    must(made.length === 0, `markup on ${page.url()}: ${made.join('\n')}`);
    must(hits.length === 0, `a script ran on ${hits}`);
    must(dialogs.length === 0, `a dialog was shown: ${dialogs}`);
    must(seen.foreign.length === 0, `asked for ${seen.foreign}`);
    must(seen.errors.length === 0, `errors: ${seen.errors.join('\n')}`);
  }

  /** How many of the texts stand on the page, to the letter. */
  async function standing(within = 'main') {
    const text = await page.locator(within).first().evaluate((node) => node.textContent);
    return told.payloads.filter((payload) => text.includes(visible(payload))).length;
  }

  await step('results are text', async () => {
    await open(page, '/test-call?tool=says&arguments=' + encodeURIComponent('{"word":"x"}'));
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Result' }).getByText('success').waitFor();
    await page.waitForFunction((payload) => document.querySelector('main').textContent.includes(payload), told.payloads[8]);
    const shown = await standing();
    must(shown >= 190, `${shown} of the texts stand on the page`);
    await calm();
  });
  await step('words of a tool are text', async () => {
    await open(page, '/fleet/evil');
    must((await standing()) >= 20, `${await standing()} of the texts stand on the page of the project`);
    await calm();
  });
  await step('names of tokens are text', async () => {
    await open(page, '/access');
    must((await standing()) >= 20, `${await standing()} of the texts stand on the page`);
    await calm();
  });
  await step('rows of the record are text', async () => {
    await open(page, '/audit');
    must((await standing()) >= 10, `${await standing()} of the texts stand on the page`);
    await calm();
  });
  await step('a row and its bytes are text', async () => {
    for (const seq of [5, 20, 60]) {
      await open(page, `/audit/${seq}`);
      await calm();
    }
  });
  await step('what stands in an address is text', async () => {
    for (const payload of told.payloads.slice(0, 40)) {
      const it = encodeURIComponent(payload);
      for (const place of [`/test-call?tool=${it}&arguments=${it}`, `/audit?principal=${it}`, `/tools/why?tool=${it}`]) {
        await open(page, place);
      }
      await calm();
    }
  });
  await step('the other pages are calm as well', async () => {
    for (const place of ['/', '/adapters', '/tools', '/tools/profiles', '/fleet', '/access/sessions']) {
      await open(page, place);
      await calm();
    }
  });
});
