// What the browser tests share: a browser that notes everything a page must
// not do, and checks that every page must pass.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';

const require = createRequire(path.join(process.env.BAOCO_BROWSER_MODULES, 'x.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const job = JSON.parse(process.env.BAOCO_BROWSER_JOB);
const problems = [];
export const problem = (text) => { problems.push(text); console.log('PROBLEM ' + text); };
export const check = (ok, text) => { if (!ok) problem(text); };

let browser;
// base is where the page's requests go; away from it, failing ones are the network's.
export async function open({ locale = 'vi-VN', scheme = 'light', width = 1280, height = 900, base = job.base, scripts = true } = {}) {
  browser ??= chromium.launch({ executablePath: process.env.BAOCO_CHROMIUM, args: ['--no-sandbox', '--lang=' + locale, '--host-resolver-rules=MAP shop.lan 127.0.0.1'] });
  const context = await (await browser).newContext({ locale, colorScheme: scheme, viewport: { width, height }, javaScriptEnabled: scripts });
  const page = await context.newPage();
  // Chromium itself complains of a page that is answered with 4xx, of a network that
  // a test takes away, of sound before the first touch, and of a field that a test
  // fills in sooner than the page focuses it.
  const own = (m) => m.location().url === page.url() && /status of 4\d\d/.test(m.text()) || base !== job.base && /net::ERR_|status of 404/.test(m.text())
    || /AudioContext was not allowed to start|Autofocus processing was blocked/.test(m.text());
  page.on('console', (m) => own(m) || problem(`console ${m.type()} on ${page.url()}: ${m.text()}`));
  page.on('pageerror', (e) => problem(`error on ${page.url()}: ${e.message}`));
  page.on('request', (r) => { if (!r.url().startsWith(base) && !r.url().startsWith('data:')) problem(`request elsewhere: ${r.url()}`); });
  page.on('response', (r) => { if (r.status() >= 500) problem(`${r.status()} ${r.url()}`); });
  return page;
}

// listening notes what is spoken, which tones are played and which locks keep the
// screen lit.
export const listening = () => {
  window.locks = [];
  Object.defineProperty(navigator, 'wakeLock', { value: { request: async () => { window.locks.push({ released: false }); return window.locks.at(-1); } } });
  window.spoken = [];
  window.tones = [];
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  const speak = (words) => { window.spoken.push({ text: words.text, lang: words.lang, volume: words.volume }); window.heard?.(words.text); setTimeout(() => words.onend()); };
  Object.defineProperty(window, 'speechSynthesis', { value: { getVoices: () => [], resume() {}, speak } });
  const create = AudioContext.prototype.createOscillator;
  AudioContext.prototype.createOscillator = function () { const tone = create.call(this); window.tones.push(tone); return tone; };
};

// old takes from a page what browsers of 2021 and 2022 don't have, and oldStyles what their
// styles don't: a rule with what they don't know isn't applied.
export const old = () => {
  delete AbortSignal.timeout;
  delete HTMLFormElement.prototype.requestSubmit;
  delete HTMLDialogElement.prototype.showModal;
  delete Element.prototype.checkVisibility;
};
export const oldStyles = (page) => page.route(/\.css/, async (route) => {
  const response = await route.fetch();
  await route.fulfill({ response, body: (await response.text()).replaceAll(':has(', ':unknown(').replaceAll('cqi', 'unknown') });
});

// relay is a network that can be taken away: behind its url, freeze keeps every
// connection open and passes nothing on, cut also breaks those that are open, refuse has
// a proxy answer that it knows no server, and thaw ends them all.
export async function relay() {
  let frozen = false, refusing = false;
  const pipes = new Set();
  const proxy = net.createServer((socket) => {
    if (refusing) {
      pipes.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => socket.end('HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 19\r\nConnection: close\r\n\r\n404 page not found\n'));
      return;
    }
    const server = net.connect(new URL(job.base).port, '127.0.0.1');
    for (const [from, to] of [[socket, server], [server, socket]]) {
      pipes.add(from);
      from.on('data', (bytes) => { if (!frozen) to.write(bytes); });
      from.on('close', () => { pipes.delete(from); if (!frozen) to.destroy(); });
      from.on('error', () => {});
    }
  }).listen(0, '127.0.0.1');
  await new Promise((done) => proxy.on('listening', done));
  const close = () => { for (const socket of pipes) socket.destroy(); };
  return {
    url: `http://127.0.0.1:${proxy.address().port}`,
    freeze() { frozen = true; },
    cut() { frozen = true; close(); },
    refuse() { refusing = true; close(); },
    thaw() { frozen = refusing = false; close(); },
    end() { proxy.close(); },
  };
}

// must is what every page has to be, in its present width: no rule of
// accessibility broken, nothing wider than the screen.
export async function must(page, name) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(axe);
  const violations = await page.evaluate(async () => (await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], resultTypes: ['violations'] })).violations);
  for (const v of violations) problem(`${name}: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.target.join(' ')).slice(0, 3).join(' | ')}`);
  await fits(page, name);
  if (process.env.BAOCO_SCREENSHOTS) await page.screenshot({ path: path.join(process.env.BAOCO_SCREENSHOTS, name.replace(/\W+/g, '_') + '.png'), fullPage: true });
}

// fits tells whether a page is as wide as its screen, whether no label of a chart
// stands on another, and whether no cell says again what its column says.
export async function fits(page, name) {
  const seen = await page.evaluate(() => {
    const labels = [...document.querySelectorAll('.plot text')].map((t) => [t.textContent, t.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
    const again = [...document.querySelectorAll('table')].filter((t) => t.tHead?.getClientRects().length).flatMap((t) => {
      const heads = [...t.tHead.rows[0].cells].map((c) => c.innerText.trim());
      return [...t.tBodies].flatMap((b) => [...b.rows]).flatMap((r) => [...r.cells].map((c) => c.innerText).filter((text, i) => heads[i]?.includes(' ') && text.startsWith(heads[i]) && text.trim() !== heads[i]));
    });
    return { wide: document.documentElement.scrollWidth, screen: document.documentElement.clientWidth, again,
      covered: labels.slice(1).filter(([, box], i) => box.left < labels[i][1].right + 4).map(([text]) => text) };
  });
  check(seen.wide <= seen.screen, `${name}: ${seen.wide} wide on a screen of ${seen.screen}`);
  check(seen.covered.length === 0, `${name}: labels of the chart stand on others: ${seen.covered}`);
  check(seen.again.length === 0, `${name}: cells repeat the head of their column: ${JSON.stringify(seen.again)}`);
}

// moneyFirst leads to the overview: the newest amount is within the first screen
// of a telephone and of a desk.
export async function moneyFirst(page) {
  for (const [width, height] of [[390, 844], [1280, 800]]) {
    await page.setViewportSize({ width, height });
    await page.goto(job.base + '/');
    const [bottom, bar] = await page.evaluate(() => [document.querySelector('#rows tr[id^=tx-] .amount').getBoundingClientRect().bottom, document.querySelector('.bar').offsetHeight]);
    check(bottom <= height - bar, `the newest amount ends at ${bottom} of a screen of ${height} with a bar of ${bar}`);
  }
}

export async function signIn(page, name, password) {
  await page.goto(job.base + '/login');
  await page.fill('[name=name]', name);
  await page.fill('[name=password]', password);
  await page.click('main button[type=submit]');
  await page.waitForURL(job.base + '/');
}

export async function end() {
  await (await browser)?.close();
  process.exit(problems.length ? 1 : 0);
}
