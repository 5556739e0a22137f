// The way in as an owner sets it up: a bank account, a source, its first call,
// and a transaction that waits for its account.
import { job, open, check, must, signIn, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN' });
await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
await signIn(page, job.name, job.password);
await page.click('nav a[href="/banks"]');
await must(page, 'banks empty');
await page.selectOption('[name=bank]', 'ACB');
await page.fill('[name=account_number]', '1935?');
await page.fill('[name=account_name]', 'NGUYEN VAN A');
await page.click('main form button[type=submit]');
await page.waitForSelector('#account_number-problem');
await must(page, 'bank refused');
check(await page.inputValue('[name=account_name]') === 'NGUYEN VAN A', 'what was typed is gone');
await page.fill('[name=account_number]', '1935 4957');
await page.click('main form button[type=submit]');
await page.waitForURL(job.base + '/banks/1');
await page.fill('[name=amount]', '150.000');
await page.fill('[name=content]', 'Đơn hàng 12');
await page.click('.qr button');
await page.waitForURL(/amount=/);
check(await page.evaluate(() => document.querySelector('.qr img').naturalWidth) > 100, 'the code is not drawn');
await must(page, 'bank with a code');

// The source: its page shows the address and the secret once.
await page.click('nav a[href="/inbound"]');
await must(page, 'sources empty');
await page.click('main a.button');
await must(page, 'source kinds');
await page.click('a[href$="provider=native"]');
await must(page, 'source native');
await page.fill('[name=name]', 'Máy bán hàng');
await page.click('main form button[type=submit]');
await page.waitForSelector('#secret');
await must(page, 'source secret');
const url = await page.textContent('#url');
const secret = await page.textContent('#secret');
await page.click('[data-copy="#secret"]');
await page.waitForFunction(() => document.querySelector('[data-copy="#secret"]').textContent.includes('Đã sao chép'));
check(await page.evaluate(() => navigator.clipboard.readText()) === secret, 'another text was copied');
await page.reload();
check(await page.locator('#secret').count() === 0, 'a reload shows the secret again');
await page.click('main a.button[href="/inbound/sources/1"]');
await page.waitForURL(job.base + '/inbound/sources/1');
check(!(await page.content()).includes(secret), 'the secret is on the page of the source');

const call = async (id, account, key = secret) => (await fetch(url, {
  method: 'POST', headers: { 'Authorization': 'Bearer ' + key, 'Content-Type': 'application/json' },
  body: JSON.stringify({ transactions: [{ id, gateway: 'ACB', transactionDate: job.date, accountNumber: account, transactionNumber: 'FT' + id, transferType: 'IN', transferAmount: 200000, content: 'DH' + id }] }),
})).json();
let answer = await call('1', '19354957');
check(answer.recorded === 1, 'the call: ' + JSON.stringify(answer));
await page.goto(job.base + '/transactions');
check((await page.textContent('#rows')).includes('DH1'), 'the transaction is not listed');

// One of an account that nobody linked waits, and is linked from the log.
answer = await call('2', '888777');
check(answer.unassigned === 1, 'the second call: ' + JSON.stringify(answer));
await call('3', '19354957', 'another secret');
await page.goto(job.base + '/');
await must(page, 'overview with attention');
await page.click('.attention summary');
await page.click('.attention a[href="/inbound/events?state=unassigned"]');
await must(page, 'events unassigned');
await page.click('td a[href="/inbound/events/2"]');
await must(page, 'event unassigned');
check(await page.inputValue('[name=account_number]') === '888777', 'the number is not filled in');
await page.fill('[name=account_name]', 'TRAN THI B');
await page.click('form[action$="/link"] button');
await page.waitForSelector('.flash');
await must(page, 'event linked');
await page.goto(job.base + '/transactions');
check((await page.textContent('#rows')).includes('DH2'), 'what waited is not listed');

for (const path of ['/banks', '/banks/1', '/banks/1/unlink', '/inbound', '/inbound/sources/1', '/inbound/events', '/inbound/events/2', '/inbound/refused']) {
  await page.goto(job.base + path);
  await must(page, 'flow ' + path);
}

// A statement: checked first, then recorded.
const file = { name: 'sao-ke.csv', mimeType: 'text/csv', buffer: Buffer.from('Số tài khoản:,19354957,,,\nNgày giao dịch,Số GD,Nội dung giao dịch,Số tiền rút ra,Số tiền gửi vào\n02/11/2026,78,GUI XE,,5.000\n02/11/2026,79,HONG,,abc\n') };
await page.goto(job.base + '/transactions');
await must(page, 'transactions with import');
await page.click('a[href="/transactions/import"]');
let go;
const held = new Promise((done) => { go = done; });
await page.route('**/transactions/import', async (route) => { await held; await route.continue(); }, { times: 1 });
await page.setInputFiles('[name=file]', file);
await page.click('main form button[type=submit]');
await page.waitForSelector('.upload progress');
check(await page.locator('main form button[aria-busy]').count() === 1, 'the button does not say that it works');
await must(page, 'import is sent');
go();
await page.waitForSelector('#found');
await must(page, 'import checked');
check((await page.textContent('#found')).includes('chưa ghi nhận'), 'the first step: ' + await page.textContent('#found'));
check(await page.evaluate(() => document.activeElement.id) === 'main', 'the result is not where the keyboard is');
// The file is kept.
await page.click('main form button[type=submit]');
await page.waitForFunction(() => document.querySelector('#found')?.textContent.includes('Đã nhập tệp'));
await must(page, 'import recorded');

// A file of unknown columns: they are chosen above its first lines.
await page.goto(job.base + '/transactions/import');
await page.setInputFiles('[name=file]', { name: 'so.csv', mimeType: 'text/csv', buffer: Buffer.from('when,what,plus\n03/11/2026,BAN HANG,25.000\n') });
await page.selectOption('[name=bank_account_id]', { index: 1 });
await page.click('main form button[type=submit]');
await page.waitForSelector('.columns[open]');
await must(page, 'import of unknown columns');
await page.setViewportSize({ width: 390, height: 844 });
await must(page, 'import of unknown columns on a telephone');
await page.setViewportSize({ width: 1280, height: 900 });
for (const [column, field] of [['A', 'date'], ['B', 'content'], ['C', 'credit']]) await page.selectOption(`[name=column-${column}]`, field);
await page.click('main form button[type=submit]');
await page.waitForSelector('#found');
check((await page.textContent('main')).includes('25.000'), 'the columns that were chosen were not read');
await must(page, 'import by chosen columns');
await page.context().clearCookies({ name: 'baoco' });
await page.click('main form button[type=submit]');
await page.waitForURL(/\/login\?/);
await signIn(page, job.name, job.password);

// The end of a source.
await page.goto(job.base + '/inbound/sources/1/remove');
await page.fill('[name=word]', 'khác');
await page.click('button.danger');
await page.waitForSelector('.problem');
await page.fill('[name=word]', 'máy bán hàng');
await page.click('button.danger');
await page.waitForURL(job.base + '/inbound');
answer = await call('4', '19354957');
check(!answer.recorded, 'a removed source is heard: ' + JSON.stringify(answer));
await end();
