// A stream from its creation to its end, as a developer of a shop does it.
import { job, open, check, problem, must, signIn, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN' });
await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);

// seen looks at a page on a desk in light and on a telephone in dark.
async function seen(name) {
  await must(page, name);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await must(page, name + ' narrow');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 900 });
}

const shows = (what, text) => page.waitForFunction((text) => document.querySelector('main').innerText.replace(/\s+/g, ' ').includes(text), text, { polling: 50, timeout: 45000 })
  .catch(async () => problem(`${what}: no ${text} in ${(await page.innerText('main')).replace(/\s+/g, ' ')}`));

const call = async (id) => {
  const response = await fetch(job.base + job.source, {
    method: 'POST', headers: { Authorization: 'Bearer ' + job.secret },
    body: JSON.stringify({ transactions: [{ id, gateway: 'ACB', transactionDate: '', transactionNumber: id, accountNumber: '19354957', content: 'DH1', transferType: 'IN', transferAmount: 200000 }] }),
  });
  check(response.status === 200, `the call: ${response.status} ${await response.text()}`);
};

// From the webhooks, since there is no entry in the navigation.
await signIn(page, job.name, job.password);
await page.click('nav a[href="/webhooks"]');
check(await page.locator('nav a[href="/streams"]').count() === 0, 'the navigation has an entry for few shops');
await page.click('main a[href="/streams"]');
await seen('streams empty');
check(await page.getAttribute('nav a[href="/webhooks"]', 'aria-current') === 'page', 'the navigation does not say where this is');
await page.click('main a[href="/streams/new"]');
await seen('stream new');
check(await page.isHidden('[name=since_id]'), 'a field is there that nobody needs');
await page.selectOption('[name=start]', 'after');
check(await page.isVisible('[name=since_id]'), 'the id can not be entered');
await page.selectOption('[name=start]', 'first');
await call('FT1');
await page.fill('[name=name]', 'Sổ kế toán');
await page.fill('[name=url]', 'https://shop.vn');
await page.fill('[name=topic]', 'shop transactions');
await page.click('main form[action="/streams"] button[type=submit]');
await page.waitForSelector('#url-problem');
await seen('stream refused');
check(await page.inputValue('[name=name]') === 'Sổ kế toán' && await page.inputValue('[name=start]') === 'first', 'what was entered is gone');
await page.fill('[name=url]', 'nats://' + job.broker);
await page.fill('[name=topic]', 'shop.transactions');
await page.click('main form[action="/streams"] button[type=submit]');

// The secret, once.
await page.waitForSelector('#secret');
const secret = await page.textContent('#secret');
check(/^whsec_[A-Za-z0-9+/]{43}=$/.test(secret), 'no secret on the page: ' + secret);
await seen('stream secret');
await page.click('[data-copy="#secret"]');
await page.waitForFunction(() => document.querySelector('[data-copy="#secret"]').textContent.includes('Đã sao chép'));
check(await page.evaluate(() => navigator.clipboard.readText()) === secret, 'another text was copied');
const [download] = await Promise.all([page.waitForEvent('download'), page.click('form[action$="/env"] button')]);
check(download.suggestedFilename() === 'baoco-stream-1.env', 'the file is called ' + download.suggestedFilename());
await page.check('.kept input');
await page.click('.kept button');
await page.waitForURL(/\/streams\/1\??$/);
check(!(await page.content()).includes(secret), 'the secret is on the page of the stream');

// What was there before, and what comes, without reloading.
await shows('the first transaction', 'Đã gửi 1 tin');
await page.waitForSelector('body.is-live', { timeout: 30000 });
await page.evaluate(() => { window.notReloaded = true; });
await call('FT2');
await shows('another transaction', 'Đã gửi 2 tin');
await shows('another transaction', 'Đã gửi hết');
check(await page.evaluate(() => window.notReloaded === true), 'the page was reloaded');
await seen('stream');
await page.click('form[action$="/test"] button');
await page.waitForSelector('.flash');
check((await page.textContent('.flash')).includes('đã lưu tin thử'), 'the test: ' + await page.textContent('.flash'));

// The broker goes away and comes back.
await page.waitForSelector('body.is-live', { timeout: 30000 });
await fetch(job.switch + '/kill');
await call('FT3');
await shows('without a broker', 'Không gửi được từ');
await shows('without a broker', 'Chưa gửi giao dịch từ');
await seen('stream failing');
await page.click('form[action$="/test"] button');
await page.waitForSelector('.problem[role=alert]');
await seen('stream test failed');
await page.goto(job.base + '/streams');
await seen('streams failing');
await page.click('td a[href="/streams/1"]');
await page.waitForSelector('body.is-live', { timeout: 30000 });
await fetch(job.switch + '/start');
await shows('with the broker', 'Đã gửi 3 tin');

// A subject that no stream of the broker keeps.
await page.click('main a[href="/streams/1/edit"]');
await seen('stream edit');
await page.fill('[name=topic]', 'shop.nobody');
await page.click('main form[action$="/edit"] button[type=submit]');
await page.waitForSelector('.flash');
await page.click('form[action$="/test"] button');
await page.waitForSelector('.problem[role=alert]');
await seen('stream of no subject');

// Off and on, a new secret.
await page.goto(job.base + '/streams/1');
await page.click('form[action$="/toggle"] button');
await page.waitForSelector('button[name=active][value="1"]');
await seen('stream off');
await page.click('form[action$="/toggle"] button');
await page.waitForSelector('button[name=active][value="0"]');
await page.click('a[href$="/rotate"]');
await seen('stream rotate');
await page.click('main button[type=submit]');
await page.waitForSelector('#secret');
check(await page.textContent('#secret') !== secret, 'the secret is the same after a rotation');
await page.reload();
check(await page.locator('#secret').count() === 0, 'a reload shows a secret again');

// In English.
await page.goto(job.base + '/streams');
await page.click('form[action="/look"] button[value=en]');
for (const path of ['/webhooks', '/streams', '/streams/new', '/streams/1', '/streams/1/edit', '/streams/1/rotate', '/help/streams']) {
  await page.goto(job.base + path);
  await seen('en ' + path);
}

// The end.
await page.goto(job.base + '/streams/1');
await page.click('a[data-dialog]');
await page.waitForSelector('dialog[open]');
await seen('stream delete');
await page.fill('dialog [name=word]', 'sổ kế toán');
await page.click('dialog button.danger');
await page.waitForURL(job.base + '/streams');
check(await page.locator('td a[href="/streams/1"]').count() === 0, 'the stream is still there');
await end();
