// Set up in the browser, then watch money come in without reloading.
import { job, open, check, problem, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN' });
await page.goto(job.base + job.setup);
await page.fill('[name=name]', 'lan');
await page.fill('[name=password]', job.password);
await page.fill('[name=password_again]', job.password);
await page.click('main button[type=submit]');
await page.waitForURL(job.base + '/');
await page.waitForSelector('[data-live]:not([hidden])');
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
await page.waitForFunction(() => document.querySelector('#rows tr')?.textContent.includes('DH10293'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the transaction never came'));
console.log(`live after ${Date.now() - started} ms`);
check((await page.textContent('#rows tr')).includes('+1.549.000\u00a0₫'), 'the amount is not written as in Vietnam');
await page.waitForFunction(() => document.querySelector('#rows tr .pill.delivered'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the delivery was never shown as delivered'));
// The sums come with the rows that change them.
await page.waitForFunction(() => document.querySelector('#sums .card .big').textContent.endsWith(' +1.549.000\u00a0₫'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the sum of today stayed as it was'));
await page.waitForFunction(() => document.querySelector('#sums .card:last-child .big').textContent.startsWith('1 '), null, { polling: 20, timeout: 30000 }).catch(() => problem('the delivery was not counted'));

// Hostile content is text, and nothing else.
await page.evaluate(() => { window.harmed = false; });
const hostile = `<script>window.harmed=true</script><img src=x onerror="window.harmed=true"> \u202Egnp.exe ${'x'.repeat(1500)}`;
await call('FT2', 1000, hostile);
await page.waitForFunction(() => document.querySelector('#rows tr')?.textContent.includes('window.harmed'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the hostile transaction never came'));
check(!(await page.evaluate(() => window.harmed)), 'a transaction content ran as a script');
check((await page.locator('#rows img, #rows script').count()) === 0, 'a transaction content became elements');
check(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), 'a long content widens the page');
check(await page.evaluate(() => window.notReloaded === true), 'the page was reloaded');

// A script that comes late doesn't keep the page from being live.
for (const late of ['htmx-', 'hx-sse-', 'app.js']) {
  await page.route('**/static/' + late + '**', async (route) => { await new Promise((done) => setTimeout(done, 500)); await route.continue(); });
  await page.goto(job.base + '/');
  await page.waitForSelector('[data-live]:not([hidden])', { timeout: 30000 }).catch(() => problem(`${late} came late: the page is not live`));
  await page.unroute('**/static/' + late + '**');
}

// A page whose visitor was signed out while it was away loads itself anew.
const away = (hidden) => page.evaluate((value) => {
  Object.defineProperty(document, 'hidden', { value, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}, hidden);
await page.evaluate(() => { window.notReloaded = true; });
await away(true);
await page.route('**/live/**', (route) => route.fulfill({ status: 401 }));
await away(false);
await page.waitForFunction(() => window.notReloaded !== true, null, { timeout: 30000 }).catch(() => problem('a page that may see nothing more stays'));
await page.unroute('**/live/**');

await end();
