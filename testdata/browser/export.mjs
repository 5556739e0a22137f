// Filter the transactions, by a search, by choices and by chips; take the filter
// away as a file: it has the rows of the page, in the order in which they came.
import { readFileSync } from 'node:fs';
import { job, open, check, problem, signIn, must, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN' });
await signIn(page, job.name, job.password);
await page.goto(job.base + '/transactions');
await page.fill('[name=q]', 'ca phe');
await page.click('main form [type=submit]');
await page.waitForURL(/q=ca\+phe/);
const rows = await page.locator('#rows tr .content').allTextContents();
check(rows.length === 2, `${rows.length} rows on the page, want 2`);

const take = async (name) => {
  const coming = page.waitForEvent('download');
  await page.click(`main a[download]:has-text("${name}")`);
  const file = await coming;
  return { name: file.suggestedFilename(), data: readFileSync(await file.path()) };
};

const csv = await take('CSV');
check(/^baoco-\d{8}-\d{6}\.csv$/.test(csv.name), `the file is called ${csv.name}`);
const text = csv.data.toString('utf8');
check(text.startsWith('\uFEFFMã baoco,Thời gian,'), `the header is ${text.slice(0, 80)}`);
for (const row of rows) check(text.includes(row.trim()), `the file has no ${row}`);
check(!text.includes('bún chả'), 'the file has what was filtered away');

const xlsx = await take('Excel');
check(/\.xlsx$/.test(xlsx.name) && xlsx.data.subarray(0, 2).toString() === 'PK', `the workbook is ${xlsx.name}`);

// The address has what was entered and nothing else. A choice counts at once, a chip
// takes it back, and a day is one tap.
const reaches = async (want, what) => {
  await page.waitForURL((url) => decodeURIComponent(url.pathname + url.search) === want, { timeout: 10000 })
    .catch(() => problem(`${what} leads to ${page.url()}, want ${want}`));
};
await reaches('/transactions?q=ca+phe', 'a search');
await page.click('.more summary');
await page.selectOption('[name=type]', 'OUT');
await reaches('/transactions?q=ca+phe&type=OUT', 'a choice');
check((await page.locator('.chips .pill bdi').allTextContents()).join() === '“ca phe”,Tiền ra', 'the chips of two filters');
await page.click('.chips .pill:has-text("Tiền ra")');
await reaches('/transactions?q=ca+phe', 'a chip');
await page.click('.filtered .choices a:has-text("Hôm nay")');
await page.waitForURL(/from=(\d+-\d+-\d+)&q=ca\+phe&to=\1$/);
check(await page.textContent('.choices [aria-current]') === 'Hôm nay', 'the chosen day is not marked');
await must(page, 'chips');
await page.click('text=Xoá bộ lọc');
await reaches('/transactions', 'taking all filters away');
await page.fill('[name=q]', '35k');
await page.press('[name=q]', 'Enter');
await reaches('/transactions?q=35k', 'an amount');
check(await page.locator('#rows tr[id^=tx-]').count() === 3, 'an amount finds other rows');
check(/số tiền 35\.000/.test(await page.textContent('#page')), 'it is not said which amount was understood');

// A row is its link. The heading of a day stays on the screen.
await page.setViewportSize({ width: 390, height: 300 });
await page.evaluate(() => document.querySelector('#rows tr:last-child').scrollIntoView({ block: 'end' }));
const top = await page.evaluate(() => document.querySelector('#rows .day').getBoundingClientRect().top);
check(top >= 0 && top < 300, `the heading of the day is at ${top}`);
await page.setViewportSize({ width: 1280, height: 900 });
await page.click('#rows tr[id^=tx-] td.amount');
await page.waitForURL(/transactions\/\d+$/);

// The account of the chart is chosen without a button.
await page.goto(job.base + '/');
check(await page.locator('form.pick button').count() === 0, 'a button beside a choice that counts at once');
await page.selectOption('[name=bank_account_id]', '2');
await reaches('/?days=30&bank_account_id=2', 'the account of the chart');

// Without scripts the same, with the button.
const plain = await open({ locale: 'vi-VN', width: 390, scripts: false });
await signIn(plain, job.name, job.password);
await plain.selectOption('[name=bank_account_id]', '2');
await plain.click('form.pick button');
await plain.waitForURL(job.base + '/?days=30&bank_account_id=2');
await plain.goto(job.base + '/transactions');
await plain.fill('[name=q]', 'bun');
await plain.click('main form [type=submit]');
await plain.waitForURL(job.base + '/transactions?q=bun');
check(await plain.locator('#rows tr[id^=tx-]').count() === 1, 'the search without scripts');

await page.goto(job.base + '/transactions/1');
await page.click('summary:has-text("JSON")');
try {
  check(JSON.parse(await page.textContent('#json')).id === '1', 'the JSON is of another transaction');
} catch (e) { problem(`the JSON: ${e.message}`); }
await must(page, 'transaction opened');
await end();
