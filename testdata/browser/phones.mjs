// A phone that rings. Chromium here has no push service, so the page's subscription is made
// up, and what a push service would bring is given to the worker by DevTools.
import { check, job, must, old, open, signIn, end } from './lib.mjs';

const page = await open({ locale: 'en-US', width: 390, height: 844 });
const context = page.context();
await page.addInitScript(old);
await page.addInitScript((endpoint) => {
  let asked = 0;
  PushManager.prototype.getSubscription = async () => null;
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey: key }) => {
    if (!userVisibleOnly || key.length !== 65 || key[0] !== 4) throw new Error(`a key of ${key.length} bytes`);
    // The keys of the example of RFC 8291.
    return { toJSON: () => ({ endpoint, keys: { p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4', auth: 'BTBZMqHH6r4Tts7J_aSIgg' } }) };
  };
  Notification.requestPermission = async () => (asked++ ? 'granted' : 'denied');
}, 'https://push.example.vn/phone');
await signIn(page, job.name, job.password);
await page.goto(job.base + '/settings');
await page.click('a[href="/settings/phones"]');
const add = page.getByRole('button', { name: 'Tell this phone' });
await add.waitFor();
await must(page, 'phones none');

// Who refuses reads what to do, and may try again.
await add.click();
await page.getByText('Allow notifications in the browser').waitFor();
await must(page, 'phones refused');
await add.click();
await page.getByText('This phone is told from now on').waitFor();
await must(page, 'phones one 390');
check(!await page.isVisible('form[data-push]'), 'the phone is offered again');
await page.setViewportSize({ width: 1280, height: 900 });
await must(page, 'phones one');
await page.fill('[name=quiet_from]', '22:00');
await page.fill('[name=quiet_to]', '06:30');
await page.check('[name=amounts]');
await page.click('form[action$="/phones/1"] button');
await page.getByText('Your choice is kept').waitFor();
check(await page.isChecked('[name=amounts]') && await page.inputValue('[name=quiet_to]') === '06:30', 'the choice is lost');

// What is pushed is shown, and leads to its page.
const worker = context.serviceWorkers()[0] ?? await context.waitForEvent('serviceworker');
const cdp = await context.newCDPSession(page);
const registered = new Promise((found) => cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => registrations[0] && found(registrations[0])));
await cdp.send('ServiceWorker.enable');
const { registrationId, scopeURL } = await registered;
check(scopeURL === job.base + '/', `the scope is ${scopeURL}`);
// Chromium without windows shows no notifications and has none to click.
await worker.evaluate(() => {
  self.shown = [];
  registration.showNotification = async (title, options) => { self.shown.push({ title, ...options }); };
  clients.openWindow = async (url) => { self.opened = url; };
});
await cdp.send('ServiceWorker.deliverPushMessage', { origin: job.base, registrationId, data: JSON.stringify({ title: 'Có tiền vào', body: 'Chạm để xem', path: '/transactions/1' }) });
const shown = await worker.evaluate(async () => {
  for (let i = 0; i < 200 && !self.shown.length; i++) await new Promise((done) => setTimeout(done, 50));
  return self.shown;
});
check(shown.length === 1 && shown[0].title === 'Có tiền vào' && shown[0].body === 'Chạm để xem' && !shown[0].tag, `shown: ${JSON.stringify(shown)}`);
const opened = await worker.evaluate(async (data) => {
  let closed = false, work;
  dispatchEvent(Object.assign(new Event('notificationclick'), { notification: { data, close() { closed = true; } }, waitUntil(promise) { work = promise; } }));
  await work;
  return closed && self.opened;
}, shown[0].data);
check(opened === job.base + '/transactions/1', `${opened} is opened`);
await page.goto(opened);
check((await page.locator('h1').innerText()).includes('200,000'), `at ${page.url()}: ${await page.locator('h1').innerText()}`);

// Turned off.
await page.goto(job.base + '/settings/phones');
await page.click('form[action$="/remove"] button');
await page.getByText('That phone is told no more').waitFor();

// Where there can be none, the page says why.
const plain = await open({ locale: 'vi-VN', base: job.plain });
await plain.goto(job.plain + '/login');
await plain.fill('[name=name]', job.name);
await plain.fill('[name=password]', job.password);
await plain.click('main button[type=submit]');
await plain.waitForURL(job.plain + '/');
await plain.goto(job.plain + '/settings/phones');
await plain.getByText('bằng địa chỉ bắt đầu bằng https').waitFor();
await must(plain, 'phones plain');
await end();
