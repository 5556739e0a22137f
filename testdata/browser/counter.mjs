// The counter screen: money as it comes, its words to the voice, nothing
// else; dark once the link is revoked; whole again after the server was away.
import { job, open, listening, old, oldStyles, relay, must, check, problem, end } from './lib.mjs';

const sizes = [[390, 844], [1024, 768], [1280, 800]];
const page = await open({ locale: 'vi-VN', width: 1024, height: 768 });
await page.addInitScript(listening);
const path = job.counter;
await page.goto(job.base + path);
await page.waitForSelector('body.is-live');
await must(page, 'counter empty');
await page.click('[data-sound]');
check(await page.getAttribute('[data-sound]', 'aria-pressed') === 'true', 'the switch of the sound is not on');

const call = async (id, amount, content, { account = '19354957', type = 'IN', date = '' } = {}) => {
  const started = Date.now();
  const response = await fetch(job.base + job.source, {
    method: 'POST', headers: { Authorization: 'Bearer ' + job.secret },
    body: JSON.stringify({ transactions: [{ id, gateway: 'ACB', transactionDate: date, transactionNumber: id, accountNumber: account, content, transferType: type, transferAmount: amount }] }),
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
for (const scheme of ['dark', 'light']) {
  await page.emulateMedia({ colorScheme: scheme });
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    await must(page, `counter ${scheme} ${width}`);
  }
}

// The screen is kept lit by one lock, and by another once that was taken away.
check(await page.evaluate(() => window.locks.length) === 1, `${await page.evaluate(() => window.locks.length)} locks keep the screen lit`);
await page.evaluate(() => { window.locks[0].released = true; });
await page.waitForFunction(() => window.locks.length === 2, null, { timeout: 10000 }).catch(() => problem('the screen is not kept lit any more'));

// The age of a payment, in words, goes on; an old one looks old.
const card = page.locator('#cards li').first();
const age = (text, old) => page.waitForFunction(([t, o]) => {
  const first = document.querySelector('#cards li');
  return first.querySelector('[data-age]').textContent === t && first.classList.contains('old') === o;
}, [text, old], { timeout: 10000 }).catch(async () => problem(`the newest payment is not “${text}”, old ${old}: ${await card.textContent()}`));
await call('FT5', 15000, 'MOI');
await first('MOI');
await age('vừa xong', false);
await card.evaluate((c) => { c.dataset.since -= 130; });
await age('2 phút trước', false);
await card.evaluate((c) => { c.dataset.since -= 60; });
await age('3 phút trước', true);
await card.evaluate((c) => { c.dataset.since -= 3600; });
await age('1 giờ trước', true);

// Old transfers that are recorded only now stand at their time, below news.
const spokenBefore = await page.evaluate(() => window.spoken.length);
// Half a minute more, since a page that loads slowly counts from when it was made.
const hoursAgo = (n) => ({ date: new Date(Date.now() + (7 - n) * 3600e3 - 30e3).toISOString().slice(0, 19).replace('T', ' ') });
await call('FT6', 30000, 'CU', hoursAgo(4));
await call('FT7', 30000, 'KIA', hoursAgo(2));
await page.waitForFunction(() => document.querySelector('#cards').textContent.includes('KIA'), null, { timeout: 30000 }).catch(() => problem('an old transfer never came'));
const order = (on = page) => on.$$eval('#cards li', (list) => list.map((c) => /MOI|CU|KIA/.exec(c.textContent)?.[0]).filter(Boolean).join(' '));
check(await order() === 'MOI KIA CU', `the cards stand as ${await order()}`);
check(await page.textContent('#cards li:last-child [data-age]') === '4 giờ trước', `an old transfer is of ${await page.textContent('#cards li:last-child [data-age]')}`);
const later = await open({ locale: 'vi-VN' });
await later.goto(job.base + path);
check(await order(later) === 'MOI KIA CU', `on a page of now the cards stand as ${await order(later)}`);
await later.context().close();

// A figure isn't smaller because its amount is larger. Below a billion it stays on
// its line.
const figure = () => card.evaluate((c) => {
  const amount = c.querySelector('.amount'), style = getComputedStyle(amount);
  return { size: parseFloat(style.fontSize), lines: Math.round(amount.getBoundingClientRect().height / parseFloat(style.lineHeight)) };
});
const figures = {};
for (const amount of [15000, 999999999, 99999999999]) {
  await call('FIG' + amount, amount, 'SO TIEN ' + amount);
  await first('SO TIEN ' + amount);
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    const { size, lines } = await figure();
    check(lines <= (amount < 1e9 ? 1 : 2), `${amount} takes ${lines} lines at ${width}`);
    check(size >= (figures[width] ??= size), `${amount} is smaller than a small amount at ${width}`);
    await must(page, `counter figure ${amount} ${width}`);
  }
}

// The settings of the device: they are kept, and a payment below the smallest
// amount or in the hours of silence is shown without a sound.
const says = (text, on = page) => on.waitForFunction((t) => window.spoken.some((s) => s.text === t), text, { timeout: 30000 }).catch(async () => problem(`“${text}” was not spoken: ${JSON.stringify(await on.evaluate(() => window.spoken))}`));
await says('Đã nhận chín mươi chín tỷ chín trăm chín mươi chín triệu chín trăm chín mươi chín nghìn chín trăm chín mươi chín đồng');
check(!(await page.evaluate((n) => window.spoken.slice(n), spokenBefore)).some((s) => s.text.includes('ba mươi nghìn')), 'an old payment was announced');
await page.setViewportSize({ width: 390, height: 844 });
await page.click('[data-open-settings]');
await page.selectOption('[name=least]', '20000');
await page.fill('[name=volume]', '50');
await must(page, 'counter settings');
await page.click('dialog button[type=submit]');
await call('FT7', 19000, 'NHO');
await call('FT8', 23000, 'TO');
await says('Đã nhận hai mươi ba nghìn đồng');
const heard = await page.evaluate(() => window.spoken);
check(!heard.some((s) => s.text.includes('mười chín nghìn đồng')), 'a payment below the smallest amount was announced');
check(heard.at(-1).volume === 0.5, `the volume is ${heard.at(-1).volume}`);
const hour = new Date().getHours();
await page.click('[data-open-settings]');
await page.selectOption('[name=from]', String(hour));
await page.selectOption('[name=to]', String((hour + 2) % 24));
await page.click('dialog button[type=submit]');
check(await page.locator('[data-quiet]').isVisible(), 'nothing says that the screen is silent');
const tones = await page.evaluate(() => window.tones.length);
await call('FT9', 24000, 'IM LANG');
await first('IM LANG');
await page.waitForTimeout(1000);
check(await page.evaluate(() => window.tones.length) === tones, 'something was heard in the hours of silence');

// After a reload the whole screen asks for a touch, and the settings are as they were.
await page.reload();
await page.waitForSelector('body.is-live');
check(await page.inputValue('[name=least]') === '20000' && await page.inputValue('[name=from]') === String(hour), 'the settings were forgotten');
const asks = await page.locator('[data-touch]').boundingBox();
check(asks?.width === 390 && asks?.height === 844, `the screen asks for a touch on ${JSON.stringify(asks)}`);
for (const scheme of ['dark', 'light']) {
  await page.emulateMedia({ colorScheme: scheme });
  await must(page, `counter touch ${scheme}`);
}
await page.touchscreen?.tap(200, 700).catch(() => page.mouse.click(200, 700));
await page.waitForSelector('[data-touch]', { state: 'hidden', timeout: 5000 }).catch(() => problem('the touch did not bring the sound back'));
await page.click('[data-open-settings]');
await page.selectOption('[name=from]', '');
await page.click('dialog button[type=submit]');

// What came in while the screen asked for a touch is one sentence after it.
await page.reload();
await page.waitForSelector('[data-touch]:not([hidden])');
await call('FT10', 24000, 'TRUOC KHI CHAM 1');
await call('FT11', 26000, 'TRUOC KHI CHAM 2');
await first('TRUOC KHI CHAM 2');
check(await page.evaluate(() => window.spoken.length) === 0, 'something was spoken before the touch');
await page.mouse.click(200, 700);
await says('Có 2 khoản mới, tổng năm mươi nghìn đồng');
check(await page.evaluate(() => window.spoken.length) === 1, 'what came in before the touch is spoken twice');

// It can be installed, and opens at its own address.
const devtools = await page.context().newCDPSession(page);
const { data: manifest, errors } = await devtools.send('Page.getAppManifest');
check(!errors.length, `the manifest: ${JSON.stringify(errors)}`);
const { name, start_url: start, icons } = JSON.parse(manifest || '{}');
check(name === 'Quầy 1 · baoco' && start === path && icons?.length === 3, `the manifest: ${manifest}`);
for (const icon of icons ?? []) {
  const width = await page.evaluate((src) => new Promise((done) => { const i = new Image(); i.onload = () => done(i.naturalWidth); i.onerror = () => done(0); i.src = src; }), icon.src);
  check(icon.sizes === `${width}x${width}`, `${icon.src} is ${width} wide`);
}
const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
check(!installabilityErrors.filter((e) => e.errorId !== 'in-incognito').length, `not installable: ${JSON.stringify(installabilityErrors)}`);

const english = await open({ locale: 'en-US', scheme: 'dark', width: 390, height: 844 });
await english.goto(job.base + path);
await english.waitForSelector('body.is-live');
await english.click('[data-open-settings]');
await must(english, 'counter settings English');
await english.close();

// The connection breaks: that dominates the screen and is heard. What came in
// meanwhile comes when it is back, as one sentence.
const network = await relay();
const far = await open({ locale: 'vi-VN', width: 1280, height: 800, base: network.url });
await far.addInitScript(listening);
await far.addInitScript(old);
await oldStyles(far);
await far.goto(network.url + path);
await far.waitForSelector('body.is-live');
await far.click('[data-sound]');
await far.waitForFunction(() => window.tones.length === 2);
network.cut();
await far.waitForSelector('[data-offline]:not([hidden])', { timeout: 5000 }).catch(() => problem('the break is not noticed'));
check(await far.$eval('#cards li', (card) => getComputedStyle(card).filter) === 'grayscale(1)', 'without a connection money is green');
check(await far.isHidden('.waiting'), 'it waits for the first transfer beside others');
for (const [width, height] of sizes) {
  await far.setViewportSize({ width, height });
  check((await far.locator('[data-offline]').boundingBox()).height > 0.44 * height, `no connection is small at ${width}`);
  for (const scheme of ['dark', 'light']) {
    await far.emulateMedia({ colorScheme: scheme });
    await must(far, `counter offline ${scheme} ${width}`);
  }
}
await far.waitForFunction(() => window.tones.slice(2).some((t) => t.frequency.value < 400), null, { timeout: 15000 }).catch(() => problem('no connection is not heard'));
const many = Array.from({ length: 25 }, (_, i) => i);
await Promise.all(many.map((i) => call('OFF' + i, 13000, 'LUC MAT MANG ' + i)));
network.thaw();
await says('Có 25 khoản mới, tổng ba trăm hai mươi lăm nghìn đồng', far);
check(await far.evaluate(() => window.spoken.length) === 1, `a backlog is ${await far.evaluate(() => window.spoken.length)} sentences`);
check(await far.locator('#cards li').count() === 20, 'the cards are not bounded');
check(await far.locator('[data-offline]').isHidden(), 'the bar stays');

// While the server restarts its proxy answers 404: that is no connection, and no page.
network.refuse();
await far.waitForSelector('[data-offline]:not([hidden])', { timeout: 5000 }).catch(() => problem('404 of a proxy is not noticed'));
await far.waitForTimeout(8000);
check(await far.locator('[data-offline]').isVisible(), `404 of a proxy took the place of the screen: ${await far.textContent('body')}`);
network.thaw();
await far.waitForSelector('body.is-live', { timeout: 10000 }).catch(() => problem('the screen is not back after 404 of a proxy'));
network.end();
await far.close();

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
