// Filter the transactions, take the filter away as a file: it has the rows of
// the page, in the order in which they came.
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

await page.goto(job.base + '/transactions/1');
await page.click('summary:has-text("JSON")');
try {
  check(JSON.parse(await page.textContent('#json')).id === '1', 'the JSON is of another transaction');
} catch (e) { problem(`the JSON: ${e.message}`); }
await must(page, 'transaction opened');
await end();
