// API keys and settings as an owner uses them: what is shown once is shown
// once, whatever the browser loads again.
import { job, open, must, check, signIn, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN' });
await signIn(page, job.name, job.password);

await page.goto(job.base + '/keys');
await page.fill('[name=name]', 'cửa hàng');
await page.click('main button[type=submit]');
await page.waitForSelector('#secret');
const key = await page.textContent('#secret');
check(/^baoco_[0-9A-Za-z]{43}$/.test(key), 'the page shows no key');
check((await page.textContent('#example')).includes(key), 'the example has no key');
await must(page, 'secret');
await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
await page.click('[data-copy="#secret"]');
check(await page.evaluate(() => navigator.clipboard.readText()) === key, 'the key was not copied');

await page.reload();
check(page.url() === job.base + '/keys', `a reload leads to ${page.url()}`);
check(!(await page.content()).includes(key), 'a reload shows the key again');
check(await page.locator('tbody tr').count() === 1, 'a reload made another key');
await must(page, 'keys after a reload');
await page.goBack();
check(!(await page.content()).includes(key), 'going back shows the key again');

await page.goto(job.base + '/keys');
await page.click('tbody a[data-dialog]');
await page.waitForSelector('dialog[open]');
await must(page, 'key dialog');
await page.click('dialog[open] [data-close]');
check(await page.locator('dialog[open]').count() === 0, 'the dialog stays open');
await page.click('tbody a[data-dialog]');
await page.click('dialog[open] button.danger');
await page.waitForSelector('.flash');
check(await page.locator('tbody a[data-dialog]').count() === 0, 'the key is not revoked');

await page.goto(job.base + '/settings');
await page.fill('form[action="/settings/users"] [name=name]', 'thungan');
await page.click('form[action="/settings/users"] button');
await page.waitForSelector('#secret');
const password = await page.textContent('#secret');
check(password.length === 20, 'no password was made');

// The cashier signs in with it, and changes it.
const cashier = await open({ locale: 'vi-VN' });
await signIn(cashier, 'thungan', password);
await cashier.goto(job.base + '/settings');
await must(cashier, 'settings of a cashier');
await cashier.fill('[name=present_password]', password);
await cashier.fill('[name=password]', 'một câu khác rất dài');
await cashier.fill('[name=password_again]', 'một câu khác rất dài');
await cashier.click('form[action="/settings/password"] button');
await cashier.waitForSelector('.flash');
check(cashier.url() === job.base + '/settings', 'changing the password ended this session');

await end();
