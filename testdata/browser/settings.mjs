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
const label = await page.innerHTML('[data-copy="#secret"]');
await page.click('[data-copy="#secret"]');
check(await page.evaluate(() => navigator.clipboard.readText()) === key, 'the key was not copied');

// A plain http address has no clipboard of that kind: the old command copies, and
// where that fails too, the button says how.
const copyWithout = async (old) => {
  await page.evaluate((old) => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });
    if (!old) document.execCommand = () => false;
  }, old);
  await page.click('[data-copy="#secret"]');
  return page.evaluate(() => [document.querySelector('[data-copy="#secret"]').textContent, getSelection().toString().trim(), delete navigator.clipboard]);
};
await page.evaluate(() => navigator.clipboard.writeText('another'));
check((await copyWithout(true))[0] === 'Đã sao chép', 'nothing is said of the copy');
check(await page.evaluate(() => navigator.clipboard.readText()) === key, 'the key was not copied without a clipboard');
const [says, selected] = await copyWithout(false);
check(/Ctrl\+C/.test(says) && selected === key, `a copy that failed: ${says}`);
await page.waitForTimeout(8500); // the last label that a press brings back comes after 8 seconds
await page.waitForFunction((l) => document.querySelector('[data-copy="#secret"]').innerHTML === l, label, { timeout: 20000 })
  .catch(async () => problem(`after three presses the button says ${await page.textContent('[data-copy="#secret"]')}`));

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
await page.click('form[action="/settings/users"] button[type=submit]');
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
await cashier.click('form[action^="/settings/password"] button[type=submit]');
await cashier.waitForSelector('.flash');
check(cashier.url() === job.base + '/settings#own', 'changing the password ended this session');

// A session that ends keeps what was typed into the form, but no password.
await page.goto(job.base + '/banks/new');
await page.selectOption('[name=bank]', 'ACB');
await page.fill('main [name=account_number]', '0123456789');
await page.fill('main [name=account_name]', 'NGUYEN VAN A');
await page.context().clearCookies({ name: 'baoco' });
await page.click('main form button[type=submit]');
await page.waitForURL(/\/login\?/);
await must(page, 'sign in after a session');
await page.fill('[name=name]', job.name);
await page.fill('[name=password]', 'wrong');
await page.click('main button[type=submit]');
await page.waitForSelector('main [role=alert]');
await page.fill('[name=password]', job.password);
await page.click('main button[type=submit]');
await page.waitForURL(job.base + '/banks/new');
check(await page.inputValue('[name=bank]') === 'ACB' && await page.inputValue('main [name=account_number]') === '0123456789', 'what was typed is lost');
check(await page.locator('.flash').count() === 1, 'nothing says that it was not saved');
await page.reload();
check(await page.inputValue('main [name=account_number]') === '', 'what was typed comes back for ever');

await page.goto(job.base + '/settings');
await page.fill('form[action="/settings/users"] [name=name]', 'lan2');
await page.fill('form[action="/settings/users"] [name=password]', 'một câu khác rất dài');
await page.context().clearCookies({ name: 'baoco' });
await page.click('form[action="/settings/users"] button[type=submit]');
await page.waitForURL(/\/login\?/);
check(!await page.evaluate(() => JSON.stringify(sessionStorage)).then((kept) => kept.includes('một câu')), 'a password is kept');
await page.fill('[name=name]', job.name);
await page.fill('[name=password]', job.password);
await page.click('main button[type=submit]');
await page.waitForURL(job.base + '/settings');
check(await page.inputValue('form[action="/settings/users"] [name=name]') === 'lan2', 'what was typed is lost');
check(await page.inputValue('form[action="/settings/users"] [name=password]') === '', 'a password is kept');
await must(page, 'a form filled in again');

await end();
