// Set up in the browser, then watch money come in without reloading.
import { job, open, relay, check, problem, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN' });
await page.goto(job.base + job.setup);
await page.fill('[name=name]', 'lan');
await page.fill('[name=password]', job.password);
await page.fill('[name=password_again]', job.password);
await page.click('main button[type=submit]');
await page.waitForURL(job.base + '/guide');
await page.goto(job.base + '/');
const isLive = (on) => on.waitForSelector('body.is-live', { timeout: 30000 });
await isLive(page);
await page.evaluate(() => { window.notReloaded = true; });

const call = async (id, amount, content) => {
  const started = Date.now();
  const response = await fetch(job.base + job.source, {
    method: 'POST', headers: { Authorization: 'Bearer ' + job.secret },
    body: JSON.stringify({ transactions: [{ id, gateway: 'ACB', transactionDate: '', transactionNumber: id, accountNumber: '19354957', content, transferType: 'IN', transferAmount: amount }] }),
  });
  check(response.status === 200, `the call: ${response.status} ${await response.text()}`);
  return started;
};

const started = await call('FT1', 1549000, 'DH10293 thanh toan');
await page.waitForFunction(() => document.querySelector('#rows tr[id^=tx-]')?.textContent.includes('DH10293'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the transaction never came'));
console.log(`live after ${Date.now() - started} ms`);
check((await page.textContent('#rows tr.day')).replace(/\s+/g, ' ').startsWith('Hôm nay +1.549.000 ₫ · 1'), `the row of the day says ${await page.textContent('#rows tr.day')}`);
check((await page.textContent('#rows tr[id^=tx-]')).includes('+1.549.000\u00a0₫'), 'the amount is not written as in Vietnam');
await page.waitForFunction(() => document.querySelector('#rows tr .pill.delivered'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the delivery was never shown as delivered'));
// The sums come with the rows that change them.
await page.waitForFunction(() => document.querySelector('#today .big').textContent.endsWith(' +1.549.000\u00a0₫'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the sum of today stayed as it was'));
await page.waitForFunction(() => document.querySelector('#sums .card:last-child .big').textContent.startsWith('1 '), null, { polling: 20, timeout: 30000 }).catch(() => problem('the delivery was not counted'));

// Hostile content is text, and nothing else.
await page.evaluate(() => { window.harmed = false; });
const hostile = `<script>window.harmed=true</script><img src=x onerror="window.harmed=true"> \u202Egnp.exe ${'x'.repeat(1500)}`;
await call('FT2', 1000, hostile);
await page.waitForFunction(() => document.querySelector('#rows tr[id^=tx-]')?.textContent.includes('window.harmed'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the hostile transaction never came'));
check(!(await page.evaluate(() => window.harmed)), 'a transaction content ran as a script');
check((await page.locator('#rows img, #rows script').count()) === 0, 'a transaction content became elements');
check(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), 'a long content widens the page');
check(await page.evaluate(() => window.notReloaded === true), 'the page was reloaded');

// A script that comes late doesn't keep the page from being live.
for (const late of ['htmx-', 'live.js', 'app.js']) {
  await page.route('**/static/' + late + '**', async (route) => { await new Promise((done) => setTimeout(done, 500)); await route.continue(); });
  await page.goto(job.base + '/');
  await isLive(page).catch(() => problem(`${late} came late: the page is not live`));
  await page.unroute('**/static/' + late + '**');
}

const within = async (ms, what, condition, argument) => {
  const begun = Date.now();
  await condition.page.waitForFunction(condition.holds, argument, { polling: 50, timeout: ms }).catch(() => problem(what));
  console.log(`${Date.now() - begun} ms; else: ${what}`);
};
const hasRow = (on) => ({ page: on, holds: (text) => document.querySelector('#rows')?.textContent.includes(text) });
const firstRow = () => page.locator('#rows tr[id^=tx-]').first().getAttribute('id');

// A new row is marked. Under the pointer no row moves: a button says how many wait.
await call('FT3', 3000, 'row three');
await within(5000, 'a new row is not marked', { page, holds: () => document.querySelector('#rows tr.new')?.textContent.includes('row three') });
await page.hover('#rows tr:nth-child(3)');
const before = await firstRow();
await page.evaluate(() => { document.querySelector('#rows td.state').textContent = 'of yesterday'; });
await call('FT4', 4000, 'row four');
await within(5000, 'no button says that a row waits', { page, holds: () => document.querySelector('[data-held]:not([hidden])')?.textContent.startsWith('1 ') });
check(await firstRow() === before, 'a row moved under the pointer');
check(!(await page.textContent('#rows')).includes('of yesterday'), 'a row under the pointer no longer changes');
await page.mouse.move(0, 0);
await within(5000, 'a row that waited never came', hasRow(page), 'row four');
check(await page.locator('[data-held]').isHidden(), 'the button stays');

// What came while the tab was in the background is counted in its title.
const hide = (hidden) => page.evaluate((value) => {
  Object.defineProperty(document, 'hidden', { value, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden);
await hide(true);
await call('FT5', 5000, 'row five');
await call('FT6', 6000, 'row six');
await within(12000, 'the title does not count what came', { page, holds: () => document.title.startsWith('(2) ') });
await hide(false);
check(!(await page.title()).startsWith('('), 'the title goes on counting what was seen');

// An open part stays open while the page changes, and a typed text stays.
await page.goto(job.base + '/transactions');
await isLive(page);
await page.fill('[name=q]', 'typed');
await page.evaluate(() => { document.querySelector('details.more').open = true; });
await call('FT7', 7000, 'row seven');
await within(5000, 'the list is not live', hasRow(page), 'row seven');
check(await page.inputValue('[name=q]') === 'typed' && await page.evaluate(() => document.querySelector('details.more').open), 'a change of the page took what was typed or closed what was open');

// While something is ticked in a list, new rows wait until they are asked for, and take no tick away.
for (const path of ['/transactions', '/deliveries']) {
  await page.goto(job.base + path);
  await isLive(page);
  const row = page.locator('#rows tr[id]:has([name=row])').first(), kept = `#${await row.getAttribute('id')} [name=row]`;
  await row.locator('[name=row]').check();
  await page.evaluate(() => document.activeElement.blur());
  await page.mouse.move(0, 0);
  for (const text of ['row ticked', 'row after it']) {
    await call(text + path, 7000, text + path);
    await within(5000, `${path}: no button says that a row waits while another is ticked`, { page, holds: () => document.querySelector('[data-held]:not([hidden])') });
    await page.click('[data-held]');
    await within(5000, `${path}: a row never came while another was ticked`, hasRow(page), text + path);
    check(await page.isChecked(kept, { timeout: 1000 }).catch(() => false), `${path}: what was ticked is not ticked any more`);
  }
}

// What came while somebody looked at the ticked rows moves no tick to another row.
await page.goto(job.base + '/transactions');
await isLive(page);
await page.locator('#rows [name=row]').first().check();
const ticked = await page.locator('#rows :checked').first().getAttribute('value');
await page.click('button[form=ticked]');
await page.waitForURL('**/transactions/chosen**');
await page.fill('[name=revenue_note]', 'why');
await page.press('[name=revenue_note]', 'Enter'); // which of the buttons it would press, nobody knows
check(new URL(page.url()).pathname === '/transactions/chosen', 'Enter pressed one of several buttons');
await call('row while away', 7000, 'row while away');
await page.goBack();
await isLive(page);
await within(5000, 'what came meanwhile is not there', hasRow(page), 'row while away');
const moved = await page.locator('#rows :checked').evaluateAll((boxes) => boxes.map((box) => box.value));
check(moved.every((value) => value === ticked), `the way back ticks ${moved}, where ${ticked} was ticked`);

// Eight tabs over HTTP/1.1: a browser has six connections, and no tab may wait.
const tabs = [];
for (let i = 0; i < 8; i++) {
  const tab = await page.context().newPage();
  await tab.goto(job.base + '/', { timeout: 10000 }).catch(() => problem(`tab ${i + 1} never loaded`));
  tabs.push(tab);
}
await call('FT8', 8000, 'row eight');
for (const [i, tab] of tabs.entries()) await within(10000, `tab ${i + 1} is not live`, hasRow(tab), 'row eight');
for (const tab of tabs) await tab.close();

// A connection that dies without a word, behind a proxy that keeps every
// connection open and passes nothing on. It is noticed within 8 seconds, the bar
// says since when, and within 5 seconds of the network's return the page is new.
const network = await relay();
const far = network.url;
const other = await open({ locale: 'vi-VN', base: far });
await other.goto(far + '/login');
await other.fill('[name=name]', 'lan');
await other.fill('[name=password]', job.password);
await other.click('main button[type=submit]');
await isLive(other);
const bar = (shown) => ({ page: other, holds: (want) => document.querySelector('[data-offline]').hidden !== want });
network.freeze();
await call('FT9', 9000, 'row nine');
await within(8000, 'a dead connection is not noticed', bar(), true);
const words = await other.textContent('[data-offline]');
check(/Mất kết nối từ \d\d:\d\d:\d\d\..*trước/.test(words), `the bar says ${words}`);
check(!(await other.evaluate(() => document.body.classList.contains('is-live'))), 'a dead page says that it is live');
network.thaw();
await within(5000, 'the page is not new after the return', hasRow(other), 'row nine');
await within(1000, 'the bar stays', bar(), false);

// A connection that breaks is noticed at once.
network.cut();
await within(2000, 'a broken connection is not noticed', bar(), true);
await call('FT10', 10000, 'row ten');
network.thaw();
await within(5000, 'the page is not new after the break', hasRow(other), 'row ten');

// What a proxy answers while the server is away takes the place of no page.
network.refuse();
await within(5000, 'what a proxy answers is taken for a connection', bar(), true);
await other.waitForTimeout(4000);
check(await other.locator('[data-offline]').isVisible(), 'what a proxy answers took the place of the page');
network.thaw();
await within(8000, 'the page is not live after what a proxy answered', bar(), false);

// A page whose visitor was signed out while it was away asks who it is.
network.cut();
await within(2000, 'the break is not noticed', bar(), true);
const cookie = (await other.context().cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
await fetch(job.base + '/logout', { method: 'POST', headers: { Cookie: cookie, Origin: job.base } });
network.thaw();
await other.waitForURL(far + '/login**', { timeout: 10000 }).catch(() => problem('a page that may see nothing more stays'));

// One that is signed out while it looks on, too.
await page.goto(job.base + '/');
await isLive(page);
const mine = (await page.context().cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
await fetch(job.base + '/logout', { method: 'POST', headers: { Cookie: mine, Origin: job.base } });
await page.waitForURL(job.base + '/login**', { timeout: 5000 }).catch(() => problem('a page goes on after its sign-out'));

network.end();
await end();
