// The pictures of the README, taken from the demo.
import { job, open, listening, signIn, check, end } from './lib.mjs';

const phone = { locale: 'vi-VN', width: 390, height: 760 };
const shot = (page, name) => page.screenshot({ path: `${job.dir}/${name}.png` });
const headers = { Authorization: 'Bearer ' + job.key, 'Content-Type': 'application/json' };
const list = async (path) => (await fetch(job.base + path, { headers })).json();

// pay makes a bill of 200.000, pays an amount for it and gives a picture of the till's verdict.
const pay = async (amount, verdict) => {
  const till = await open(phone);
  await till.addInitScript(listening);
  await signIn(till, 'demo', job.password);
  await till.goto(job.base + '/till');
  await till.waitForSelector('body.is-live');
  for (const key of ['2', '0', '0', '000']) await till.click(`[data-key="${key}"]`);
  await till.keyboard.press('Enter');
  await till.waitForSelector('.qr-large svg');
  const code = (await till.textContent('.bill code')).trim();
  const made = await fetch(job.base + '/api/v1/transactions', { method: 'POST', headers, body: JSON.stringify({
    gateway: 'ACB', accountNumber: '19354957', transferType: 'IN', transferAmount: amount, transactionNumber: 'FT' + code + amount,
    content: code + ' GD 123456' }) });
  check(made.ok, `money for the bill: ${made.status}`);
  await till.waitForSelector(verdict);
  const picture = await till.screenshot();
  await till.close();
  return 'data:image/png;base64,' + picture.toString('base64');
};
const verdicts = [await pay(200000, '.bill.paid .verdict'), await pay(150000, '.stop:not([hidden])')];
const both = await open({ width: 820, height: 780 });
await both.setContent(`<body style="margin:10px 15px;display:flex;gap:10px;background:#fff">
  ${verdicts.map((src) => `<img src="${src}" width="390" height="760" alt="">`).join('')}`);
await both.waitForFunction(() => [...document.images].every((i) => i.complete));
await shot(both, 'till');

const overview = await open(phone);
await signIn(overview, 'demo', job.password);
await overview.goto(job.base + '/');
await overview.waitForSelector('body.is-live');
await shot(overview, 'overview');

const [failed] = (await list('/api/v1/webhooks/history?status=0')).history;
const delivery = await open({ locale: 'vi-VN', width: 1000, height: 760 });
await signIn(delivery, 'demo', job.password);
await delivery.goto(`${job.base}/deliveries/${failed.delivery_id}`);
await shot(delivery, 'delivery');
await end();
