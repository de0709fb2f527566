// What every file of the pages keeps to: the policy `default-src 'self'`, colours from tokens, and a light first load.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const WEB = fileURLToPath(new URL('../../facade/web', import.meta.url));
const files = readdirSync(WEB, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => relative(WEB, join(entry.parentPath ?? entry.path, entry.name)));
const text = (file) => readFileSync(join(WEB, file), 'utf8');
const scripts = files.filter((file) => file.startsWith('app/') && file.endsWith('.js'));
const sheets = files.filter((file) => file.startsWith('css/') && file.endsWith('.css'));
const index = text('index.html');
/** What goes before a file on the wire. */
const HEAD = 300;
const CHART = ['vendor/uplot.js', 'vendor/uplot.css'];

/** The lines of these files that fit, as file:line. */
const lines = (among, pattern, spared = () => false) => among.flatMap((file) => text(file).split('\n')
  .map((line, at) => ({ line, at: at + 1 })).filter(({ line }) => pattern.test(line) && !spared(file, line)).map(({ line, at }) => `${file}:${at} ${line.trim().slice(0, 100)}`));

/** What a module imports as it is loaded, and what that imports. */
function graph(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, name] of text(file).matchAll(/(?:^|[\s;])(?:import|export)\b[^'"`;]*?from\s*['"](\.[^'"]+)['"]|^import\s*['"](\.[^'"]+)['"]/gm)) if (name) graph(join(dirname(file), name), seen);
  for (const [, name] of text(file).matchAll(/\bfrom"(\.[^"]+)"/g)) graph(join(dirname(file), name), seen);
  return seen;
}

test('nothing is written into the page as markup or as a style', () => {
  assert.deepEqual(lines(scripts, /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function\(/), []);
  assert.deepEqual(lines(scripts, /[\s`]style=(?!=)/), []);
  assert.deepEqual(lines(['index.html'], /\bstyle=|<style|\bon[a-z]+=|<script(?![^>]*\bsrc=)/), []);
});

test('nothing comes from another host', () => {
  const quoted = (file, line) => /placeholder|example|xmlns|<code>/.test(line);
  assert.deepEqual(lines([...sheets, 'index.html'], /https?:|url\(\s*['"]?(?:data|\/\/)/), []);
  assert.deepEqual(lines(scripts, /\b(?:src|import\(|fetch\(|href)\s*=?\s*[`'"]https?:/, quoted), []);
});

test('colours stand in tokens.css alone', () => {
  const raw = /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(|\boklch\(/i;
  assert.deepEqual(lines(sheets, raw, (file) => file === 'css/tokens.css'), []);
  assert.deepEqual(lines(scripts, /['"`]#(?:[0-9a-f]{3}|[0-9a-f]{6})['"`]/i), []);
});

test('every token that is used is one', () => {
  const known = new Set([...text('css/tokens.css').matchAll(/(--[\w-]+)\s*:/g)].map(([, name]) => name));
  const own = new Set(sheets.flatMap((sheet) => [...text(sheet).matchAll(/(--[\w-]+)\s*:/g)].map(([, name]) => name)));
  const used = [...sheets, ...scripts].flatMap((file) => [...text(file).matchAll(/var\((--[\w-]+)/g)].map(([, name]) => `${file} ${name}`));
  assert.deepEqual(used.filter((each) => !known.has(each.split(' ')[1]) && !own.has(each.split(' ')[1])), []);
});

test('every module that is imported is here', () => {
  for (const script of scripts) for (const file of graph(script)) assert.ok(files.includes(file), `${script} leads to ${file}`);
});

test('the document names every module of the frame, so that none waits for another', () => {
  const named = [...index.matchAll(/<link rel="modulepreload" href="\{\{root\}\}\/([^"]+)">/g)].map(([, file]) => file);
  const wanted = [...graph('app/main.js')].filter((file) => file !== 'app/main.js').sort();
  assert.deepEqual(named, wanted, `index.html wants:\n${wanted.map((file) => `<link rel="modulepreload" href="{{root}}/${file}">`).join('\n')}`);
});

test('a first load is light', () => {
  const first = ['index.html', 'css/tokens.css', 'css/app.css', 'icon.svg', 'app/before-paint.js', ...graph('app/main.js')];
  const packed = (list) => list.reduce((sum, file) => sum + Math.min(gzipSync(text(file), { level: 9 }).length, text(file).length) + HEAD, 0);
  const frame = packed(first);
  // Elsewhere a chart is drawn after an answer only.
  const drawn = (file) => (file === 'app/pages/overview.js' ? CHART : []);
  const pages = scripts.filter((file) => /^app\/pages\/[^/]+\.js$/.test(file)).map((file) => {
    const own = [...graph(file)].filter((each) => !first.includes(each));
    const sheet = file.replace('app/', 'css/').replace('.js', '.css');
    return { file, bytes: frame + packed([...own, ...drawn(file), ...(files.includes(sheet) ? [sheet] : [])]) };
  });
  for (const { file, bytes } of pages) assert.ok(bytes < 150_000, `${file} and the frame are ${bytes} bytes`);
  assert.ok(!graph('app/main.js').has('vendor/uplot.js'), 'charts are loaded with the first chart');
});
