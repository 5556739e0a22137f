// The owner's walk from the set-up link to the first payment of which the shop is
// told: on one page, in at most 12 clicks, with ticks that come by themselves.
import { job, open, check, must, problem, signIn, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN', height: 800 });
await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
let clicks = 0;
const click = async (selector) => { clicks++; await page.click(selector); };
const step = (name) => `#step-${name}`;
const done = (name) => page.waitForSelector(`${step(name)}.done`, { timeout: 20000 }).catch(() => problem(`the step ${name} was never ticked`));

await page.goto(job.base + job.setup);
await page.fill('[name=name]', 'Lan'); // the server makes it lower case
await page.fill('[name=password]', job.password);
await page.fill('[name=password_again]', job.password);
await click('main button[type=submit]');
await page.waitForURL(job.base + '/guide');
await must(page, 'guide empty');

await page.selectOption('[name=bank]', 'ACB');
await page.fill('[name=account_number]', '19354957');
await page.fill('[name=account_name]', 'NGUYEN VAN A');
await click(`${step('bank')} button[type=submit]`);
await done('bank');
await must(page, 'guide providers');

await click('a[href*="provider=sepay"]');
await page.waitForSelector(`${step('source')} form`);
await must(page, 'guide sepay');
await click(`${step('source')} form button[type=submit]`);
await page.waitForSelector('#secret');
await must(page, 'guide source secret');
await click('[data-copy="#url"]');
const url = new URL(await page.evaluate(() => navigator.clipboard.readText()));
await click('[data-copy="#secret"]');
const secret = await page.evaluate(() => navigator.clipboard.readText());
await click('.kept [type=checkbox]');
await click('.kept button');
await page.waitForSelector(`${step('source')}.waiting`);
const steps = await page.textContent(step('source'));
check(steps.includes('cả tiền vào và tiền ra') && steps.includes('chọn API Key') && !steps.includes('HMAC'), `the steps at SePay: ${steps}`);

await page.click(`${step('codes')} form button:has-text("DH + 6")`); // no click of the way to the first payment
await done('codes');
await page.fill(`${step('webhook')} [name=name]`, 'Website');
await page.fill(`${step('webhook')} [name=webhook_url]`, job.shop);
await must(page, 'guide webhook');
await click(`${step('webhook')} button[type=submit]`);
await page.waitForSelector('#secret');
await must(page, 'guide webhook secret');
await click('[data-copy="#secret"]');
await fetch(job.shop + '/expects', { method: 'POST', body: await page.evaluate(() => navigator.clipboard.readText()) });
await click('.kept [type=checkbox]');
await click('.kept button');
await page.waitForURL(job.base + '/guide?step=webhook#step-webhook');
await done('webhook');

// What somebody types stays while the steps before tick.
await page.evaluate(() => { window.notReloaded = true; });
await page.fill('[name=token]', '12');
const answer = await fetch(job.base + url.pathname, {
  method: 'POST', headers: { Authorization: 'Apikey ' + secret, 'Content-Type': 'application/json' },
  body: JSON.stringify({ id: 1, gateway: 'ACB', transactionDate: job.date, accountNumber: '19354957', transferType: 'in', transferAmount: 200000, content: 'DH1', referenceCode: 'FT1' }),
});
check(answer.ok, `the call: ${answer.status} ${await answer.text()}`);
await done('source');
await page.waitForFunction(() => document.querySelector('#money').closest('section').querySelector('.pill.delivered'), null, { timeout: 20000 })
  .catch(() => problem('the first payment was never shown as told to the shop'));
check((await page.textContent('[aria-labelledby=money]')).includes('+200.000'), 'the first payment is not shown');
check(await page.evaluate(() => window.notReloaded), 'the page was reloaded');
check(await page.inputValue('[name=token]') === '12', 'what was typed is gone');
console.log(`${clicks} clicks`);
check(clicks <= 12, `${clicks} clicks from the set-up link to the first payment`);
for (const width of [390, 1280]) {
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 844 });
    await must(page, `guide told ${width} ${scheme}`);
  }
}

await page.goto(job.base + '/');
await must(page, 'guide overview');
await page.goto(job.base + '/guide?step=backup');
await must(page, 'guide backup');
await page.goto(job.base + '/guide?step=counter');
await page.fill(`${step('counter')} [name=name]`, 'Quầy 1');
await page.click(`${step('counter')} button[type=submit]`);
await page.waitForSelector('#secret');
await must(page, 'guide counter link');
await page.click('a.button[href="/guide"]');
await done('counter');

// A test payment is seen on the counter screen, and can't be taken for money.
const counter = await open({ locale: 'vi-VN' });
await signIn(counter, 'lan', job.password);
await counter.goto(job.base + '/counter');
await counter.waitForSelector('body.is-live');
const cards = await counter.locator('#cards li').count();
await page.click('#test button');
await counter.waitForSelector('[data-test]:not([hidden])', { timeout: 20000 }).catch(() => problem('the counter shows no test payment'));
check(await counter.locator('#cards li').count() === cards, 'the test payment is a card of money');
await must(counter, 'guide counter test');
await page.waitForURL(/guide#test/);
check(await page.locator('#test .pill.delivered').count() === 1, 'the outcome of the test is not shown');

// The rest of the steps, without a terminal: a daily backup, and alerts that are skipped.
await page.goto(job.base + '/guide?step=backup');
await page.click(`${step('backup')} form:has([type=time]) button`);
await done('backup');
check(!(await page.textContent(step('backup'))).includes('crontab'), 'the backup needs a terminal');
await page.goto(job.base + '/guide?step=alerts');
await page.click(`${step('alerts')} button[name=skip]`);
await page.getByText('Đã thiết lập xong mọi thứ.').waitFor({ timeout: 20000 }).catch(() => problem('the set-up never ends'));
await must(page, 'guide all done');
await end();
