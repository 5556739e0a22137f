// The counter screen: money as it comes, its words to the voice, nothing
// else; dark once the link is revoked; whole again after the server was away.
import { job, open, must, check, problem, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN', width: 1024, height: 768 });
await page.addInitScript(() => {
  window.spoken = [];
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  Object.defineProperty(window, 'speechSynthesis', {
    value: { getVoices: () => [], resume() {}, speak: (words) => window.spoken.push({ text: words.text, lang: words.lang }) },
  });
});
const path = job.counter;
await page.goto(job.base + path);
await page.waitForSelector('body.is-live');
await must(page, 'counter empty');
await page.click('[data-sound]');
check(await page.getAttribute('[data-sound]', 'aria-pressed') === 'true', 'the switch of the sound is not on');

const call = async (id, amount, content, { account = '19354957', type = 'IN' } = {}) => {
  const started = Date.now();
  const response = await fetch(job.base + job.source, {
    method: 'POST', headers: { Authorization: 'Bearer ' + job.secret },
    body: JSON.stringify({ transactions: [{ id, gateway: 'ACB', transactionDate: '', transactionNumber: id, accountNumber: account, content, transferType: type, transferAmount: amount }] }),
  });
  check(response.status === 200, `the call: ${response.status} ${await response.text()}`);
  return started;
};
const first = (text) => page.waitForFunction((t) => document.querySelector('#cards li')?.textContent.includes(t), text, { polling: 20, timeout: 30000 });

const started = await call('FT1', 200000, 'BAN 7 thanh toan');
await first('BAN 7').catch(() => problem('the transaction never came'));
console.log(`on the counter after ${Date.now() - started} ms`);
check((await page.textContent('#cards li')).includes('+200.000\u00a0₫'), 'the amount is not written as in Vietnam');
await page.waitForFunction(() => window.spoken.length === 1, null, { timeout: 30000 }).catch(() => problem('nothing was spoken'));
const [said] = await page.evaluate(() => window.spoken);
check(said?.text === 'Đã nhận hai trăm nghìn đồng' && said?.lang === 'vi-VN', `spoken: ${JSON.stringify(said)}`);

// Money out and another bank account stay unseen; hostile content is text.
await call('FT2', 500000, 'TIEN RA', { type: 'OUT' });
await call('FT3', 700000, 'TAI KHOAN KHAC', { account: '700700' });
await page.evaluate(() => { window.harmed = false; });
await call('FT4', 1549000, `<img src=x onerror="window.harmed=true"><script>window.harmed=true</script>${'x'.repeat(1500)}`);
await first('window.harmed').catch(() => problem('the hostile transaction never came'));
check(!(await page.evaluate(() => window.harmed)), 'a transaction content ran as a script');
check((await page.locator('#cards img, #cards script').count()) === 0, 'a transaction content became elements');
check((await page.locator('#cards li').count()) === 2, 'the counter shows more than its money in');
await must(page, 'counter');
await page.setViewportSize({ width: 390, height: 844 });
await must(page, 'counter 390');

// The connection breaks, money comes in, the connection is back.
await page.context().setOffline(true);
await call('FT5', 21000, 'LUC MAT MANG');
await page.context().setOffline(false);
await page.waitForFunction(() => document.querySelector('#cards li')?.textContent.includes('LUC MAT MANG'), null, { timeout: 30000 }).catch(() => problem('what came in meanwhile never came'));
check((await page.locator('#cards li').count()) === 3, 'a card came twice');

// Revoked, it goes dark.
const owner = await open({ locale: 'vi-VN' });
await owner.goto(job.base + '/login');
await owner.fill('[name=name]', job.name);
await owner.fill('[name=password]', job.password);
await owner.click('main button[type=submit]');
await owner.waitForURL(job.base + '/');
await owner.goto(job.base + '/settings');
await owner.click('section:has(#counters) a[data-dialog]');
await owner.waitForSelector('dialog[open]');
await must(owner, 'counter revoke dialog');
const revoked = Date.now();
await owner.click('dialog[open] button.danger');
await page.waitForFunction(() => !document.querySelector('#cards'), null, { polling: 20, timeout: 30000 }).catch(() => problem('the screen stays open after its link was revoked'));
console.log(`dark after ${Date.now() - revoked} ms`);
check(!(await page.textContent('body')).includes('BAN 7'), 'the revoked screen still shows money');
await must(page, 'counter revoked');

await end();
