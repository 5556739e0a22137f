// A delivery fails, is looked into, and is sent again once the shop's server
// is well.
import { job, moneyFirst, open, must, check, problem, signIn, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN' });
await signIn(page, job.name, job.password);
await page.waitForSelector('body.is-live');
const becomes = (what, fn, arg) => page.waitForFunction(fn, arg, { polling: 20, timeout: 30000 }).catch(() => problem('never: ' + what));
const tell = async (what) => { const r = await fetch(job.control + what, { method: 'POST' }); check(r.ok, what + ': ' + r.status); };

// It is seen live that it failed, and that it is tried again.
await tell('/pay');
await becomes('the failed attempt', () => document.querySelector('#rows tr .pill.pending')?.title.includes('500'));
await page.click('#rows tr td.content a');
await page.click('main a[href="/deliveries/1"]');
await page.waitForURL(job.base + '/deliveries/1');
await must(page, 'history waiting');
const text = () => page.textContent('main');
check((await text()).includes('Chương trình xử lý tại URL bị lỗi (500)'), 'nothing explains the failure');
check((await text()).includes('Fatal error'), 'the answer is not shown');
await becomes('the countdown', () => /còn 0:0\d|còn 0:10/.test(document.querySelector('[data-until]')?.textContent));

// It is sent now: the attempt is seen within two seconds of the click.
const attempts = await page.locator('.timeline > li > details').count();
const clicked = Date.now();
await page.click('form[action="/deliveries/1/send-now"] button');
await becomes('the attempt', (n) => document.querySelectorAll('.timeline > li > details').length > n, attempts);
check(Date.now() - clicked <= 2000, `the attempt was seen ${Date.now() - clicked} ms after the click`);

// The other attempts are made; the page shows them by itself.
await tell('/exhaust');
await becomes('the failed delivery', () => document.querySelector('h1 .pill.failed'));
check((await page.locator('.timeline > li > details').count()) === 6, 'not six attempts');
await page.evaluate(() => document.querySelectorAll('.timeline details').forEach((d) => { d.open = true; }));
await must(page, 'history failed');
await page.goto(job.base + '/');
check((await page.textContent('.attention')).includes('1 thông báo thất bại'), 'the overview does not ask for it');
await moneyFirst(page);
await page.click('.attention summary');
await page.click('.attention a[href^="/deliveries"]');
check((await page.locator('td.state .pill.failed').count()) === 1, 'the link does not lead to what failed');
await page.click('td.content a');

// The shop's server is well again.
await tell('/recover');
await page.click('form[action="/deliveries/1/resend"] button');
await page.waitForURL(job.base + '/deliveries/2');
check((await text()).includes('Đang gửi lại'), 'nothing says that it is sent again');
await becomes('the delivery', () => document.querySelector('h1 .pill.delivered'));
await must(page, 'history delivered');
check((await text()).includes('Gửi lại từ'), 'nothing says where it comes from');

// A choice is counted before it goes.
await page.goto(job.base + '/deliveries?status=1');
await page.check('input[name=row]');
await page.click('form[action="/deliveries/resend"] button[type=submit]');
await page.waitForURL(job.base + '/deliveries/resend**');
await must(page, 'history resend');
check((await text()).includes('1 thông báo'), 'the choice is not counted');
await page.click('main form button[type=submit]');
await page.waitForURL(job.base + '/deliveries?status=1');
check((await text()).includes('Đang gửi lại 1 thông báo.'), 'nothing says that the choice is sent again');
await page.goto(job.base + '/transactions/1');
await must(page, 'history transaction');
await end();
