// Every page, at both widths and in both themes: nothing serious for axe, nothing sideways, nothing foreign, nothing
// that jumps; and each can be walked with the keyboard alone.
import { browse, faults, figure, must, open, settled, shot, signIn, step, visitor } from './session.mjs';

const PAGES = {
  overview: '/', connect: '/?connect=claude', adapters: '/adapters', 'adapter-types': '/adapters/new', 'adapter-form': '/adapters/new/proxmox',
  'test-call': '/test-call?tool=ssh.run_whitelisted_command', tools: '/tools', tool: '/tools/proxmox.list_vms', profiles: '/tools/profiles',
  compare: '/tools/compare?a=implement&b=review', why: '/tools/why?tool=proxmox.list_vms',
  audit: '/audit', 'audit-row': '/audit/1', fleet: '/fleet', access: '/access', sessions: '/access/sessions', 'access-sign-in': '/access/sign-in',
};

await browse(async (browser) => {
  const all = [];
  for (const [width, height] of [[1440, 900], [360, 740]]) {
    for (const theme of ['light', 'dark']) {
      const { page, context, seen } = await visitor(browser, { width, height, theme });
      await signIn(page);
      for (const [name, place] of Object.entries(PAGES)) {
        const label = `${name}-${width}-${theme}`;
        await open(page, place);
        await shot(page, label);
        all.push(...(await faults(page)).map((fault) => `${label}: ${fault}`));
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        if (over > 0) all.push(`${label}: ${over} px wider than the window`);
        if (theme === 'light') all.push(...(await byKeyboard(page)).map((fault) => `${label}: ${fault}`));
      }
      all.push(...seen.foreign.map((url) => `asked for ${url}`), ...seen.errors);
      await context.close();
    }
  }
  const signedOut = await visitor(browser);
  await signedOut.page.goto(new URL('/sign-in', (await import('./session.mjs')).told.url).href);
  await settled(signedOut.page);
  await shot(signedOut.page, 'sign-in-1440-light');
  all.push(...(await faults(signedOut.page)).map((fault) => `sign-in: ${fault}`));
  await step('every page holds at both widths, in both themes and by keyboard', () => must(all.length === 0, [...new Set(all)].join('\n')));
  figure('pages', Object.keys(PAGES).length);
});

/** Walks the page with Tab from its beginning: everything that can be used is come by, and shows that it is. */
async function byKeyboard(page) {
  const wanted = await page.evaluate(() => {
    const usable = 'a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled]), [tabindex="0"]';
    const visible = (node) => node.checkVisibility({ visibilityProperty: true }) && node.getClientRects().length > 0;
    let at = 0;
    for (const node of document.querySelectorAll(usable)) {
      const skipped = node.getAttribute('tabindex') === '-1' || node.closest('[inert]')
        || (node.type === 'radio' && !node.checked);
      if (visible(node) && !skipped) node.dataset.walk = String(at++);
    }
    document.activeElement?.blur();
    return at;
  });
  const missing = new Set(Array.from({ length: wanted }, (_, at) => String(at)));
  const faults = [];
  for (let pressed = 0; pressed < wanted + 30 && missing.size > 0; pressed++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const node = document.activeElement;
      if (!node || node === document.body) return null;
      const style = getComputedStyle(node);
      const shown = style.outlineStyle !== 'none' || style.boxShadow !== 'none'
        || [...(node.parentElement ? [node.parentElement] : [])].some((it) => getComputedStyle(it).outlineStyle !== 'none');
      return { walk: node.dataset.walk, shown, html: node.outerHTML.slice(0, 120) };
    });
    if (!at) continue;
    missing.delete(at.walk);
    if (!at.shown) faults.push(`no focus to be seen on ${at.html}`);
  }
  for (const at of missing) {
    const html = await page.evaluate((it) => document.querySelector(`[data-walk="${it}"]`)?.outerHTML.slice(0, 120), at);
    // What was drawn anew meanwhile cannot be told.
    if (html) faults.push(`Tab does not come by ${html}`);
  }
  return faults;
}
