// A webhook from its creation to its end, as an owner does it.
import { job, open, check, must, signIn, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN' });
await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
await signIn(page, job.name, job.password);
await page.click('nav a[href="/webhooks"]');
await must(page, 'webhooks empty');

// What is wrong is said at its field, and what was typed stays.
await page.fill('[name=name]', 'website');
await page.fill('[name=webhook_url]', 'http://10.1.2.3/hook');
await page.click('main button[type=submit]');
await page.waitForSelector('#webhook_url-problem');
await must(page, 'webhooks refused');
check(await page.inputValue('[name=name]') === 'website', 'the name that was typed is gone');
await page.fill('[name=webhook_url]', job.shop + '/hook');
await page.selectOption('[name=type]', 'ALL');
await page.click('main button[type=submit]');

// The secret: copied, downloaded, and gone.
await page.waitForSelector('#secret');
const secret = await page.textContent('#secret');
check(/^whsec_[A-Za-z0-9+/]{43}=$/.test(secret), 'no secret on the page: ' + secret);
await must(page, 'webhook secret');
await page.click('[data-copy="#secret"]');
await page.waitForFunction(() => document.querySelector('[data-copy="#secret"]').textContent.includes('Đã sao chép'));
check(await page.evaluate(() => navigator.clipboard.readText()) === secret, 'another text was copied');
const [download] = await Promise.all([page.waitForEvent('download'), page.click('form[action$="/env"] button')]);
check(download.suggestedFilename() === 'baoco-webhook-1.env', 'the file is called ' + download.suggestedFilename());
const chunks = [];
for await (const chunk of await download.createReadStream()) chunks.push(chunk);
check(Buffer.concat(chunks).toString().includes(`\nBAOCO_SECRET=${secret}\n`), 'the file does not hold the secret');
await page.click('.kept button');
check(await page.locator('.kept').count() === 1, 'one can go on without saying that the secret is kept');
await page.check('.kept input');
await page.click('.kept button');
await page.waitForURL(/\/webhooks\/1\??$/);
check(!(await page.content()).includes('whsec_A') && !(await page.content()).includes(secret), 'the secret is on the page of the webhook');

// The test goes to the shop, which checks the signature.
await fetch(job.shop + '/expects', { method: 'POST', body: secret });
await page.click('form[action$="/test"] button');
await page.waitForSelector('#outcome');
check((await page.textContent('#outcome')).includes('thành công'), 'the test: ' + await page.textContent('#test'));
await must(page, 'webhook tested');
await fetch(job.shop + '/expects', { method: 'POST', body: 'another' });
await page.click('form[action$="/test"] button');
await page.waitForFunction(() => document.querySelector('#outcome')?.textContent.includes('thất bại'));
check((await page.textContent('#test')).includes('401'), 'a refused test does not show its status');

// Why was it refused? The page leads to the tool, which knows what was sent.
await page.click('#test a[href^="/tools/signature?webhook_id=1&delivery_id="]');
await must(page, 'signature tool');
const delivery = await page.inputValue('[name=delivery_id]');
check(await page.inputValue('[name=webhook_id]') === '1', 'the webhook is not chosen');
await page.goto(job.base + '/deliveries/' + delivery);
const sent = await page.locator('details details pre').first().textContent();
await page.click('a.button[href^="/tools/signature"]');
await page.fill('[name=body]', sent.replaceAll('":', '": '));
await page.fill('[name=secret]', `"${secret}"`);
await page.click('main form[action="/tools/signature"] [type=submit]');
await page.waitForSelector('#outcome');
check((await page.textContent('#outcome')).includes('không khớp'), 'the tool: ' + await page.textContent('#outcome'));
const why = await page.textContent('main');
for (const part of ['dấu nháy', 'JSON đã bị viết lại', 'byte 17']) check(why.includes(part), 'the tool does not say ' + part);
check(!(await page.content()).includes(secret), 'the tool repeats the secret');
check(await page.inputValue('[name=body]') === sent.replaceAll('":', '": '), 'the body that was entered is gone');
await must(page, 'signature differs');
await page.setViewportSize({ width: 390, height: 900 });
await page.emulateMedia({ colorScheme: 'dark' });
await must(page, 'signature differs dark narrow');
await page.emulateMedia({ colorScheme: 'light' });
await page.setViewportSize({ width: 1280, height: 900 });
await page.fill('[name=body]', sent);
await page.fill('[name=secret]', secret);
await page.click('main form[action="/tools/signature"] [type=submit]');
await page.waitForFunction(() => document.querySelector('#outcome.in'));
await must(page, 'signature matches');
await page.goto(job.base + '/webhooks/1');

// Off and on.
await page.click('form[action$="/toggle"] button');
await page.waitForSelector('button[name=active][value="1"]');
await must(page, 'webhook off');
await page.click('form[action$="/toggle"] button');
await page.waitForSelector('button[name=active][value="0"]');

// A new secret; reloading its page makes no other one.
await page.click('a[href$="/rotate"]');
await must(page, 'webhook rotate');
await page.click('main button[type=submit]');
await page.waitForSelector('#secret');
const second = await page.textContent('#secret');
check(second !== secret, 'the secret is the same after a rotation');
await page.reload();
check(await page.locator('#secret').count() === 0, 'a reload shows a secret again');
await must(page, 'webhook secret shown');
await page.click('main a.button[href="/webhooks/1"]');
await page.click('form[action$="/activate"] button');
await page.waitForSelector('.flash');
await fetch(job.shop + '/expects', { method: 'POST', body: second });
await page.click('form[action$="/test"] button');
await page.waitForSelector('#outcome');
check((await page.textContent('#outcome')).includes('thành công'), 'after the rotation: ' + await page.textContent('#test'));
await page.goto(job.base + '/webhooks');
await must(page, 'webhooks list');
await page.setViewportSize({ width: 390, height: 800 });
await must(page, 'webhooks list narrow');
await page.click('td a[href="/webhooks/1"]');
await must(page, 'webhook narrow');

// The end: the dialog says what will happen, and wants the name.
await page.click('a[data-dialog]');
await page.waitForSelector('dialog[open]');
await must(page, 'webhook delete');
await page.click('dialog [data-close]');
await page.waitForURL(/\/webhooks\/1$/);
await page.click('a[data-dialog]');
await page.fill('dialog [name=word]', 'other');
await page.click('dialog button.danger');
await page.waitForSelector('.problem');
await must(page, 'webhook not deleted');
await page.fill('[name=word]', 'website');
await page.click('button.danger');
await page.waitForURL(job.base + '/webhooks');
check(await page.locator('td a[href="/webhooks/1"]').count() === 0, 'the webhook is still there');
await end();
