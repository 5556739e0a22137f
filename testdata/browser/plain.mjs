// At a name of the shop's network, over HTTP: every form is one of the dashboard itself.
// There browsers send no Sec-Fetch-Site, only the Origin.
import { check, job, open, signIn, end } from './lib.mjs';

const page = await open();
const origins = [];
page.on('request', (r) => { if (r.method() === 'POST') r.allHeaders().then((h) => origins.push(h.origin + ' ' + (h['sec-fetch-site'] ?? '-'))); });
await page.goto(job.base + job.setup);
await page.fill('[name=name]', 'lan');
await page.fill('[name=password]', job.password);
await page.fill('[name=password_again]', job.password);
await page.click('main button[type=submit]');
await page.waitForURL(job.base + '/guide');
await page.click('.who form[action="/logout"] button');
await page.waitForURL(job.base + '/login');
await signIn(page, 'lan', job.password);
await page.goto(job.base + '/till');
check((await page.innerText('main')).length > 0, 'the till is empty');
check(origins.length === 3 && origins.every((o) => o === job.base + ' -'), `the forms said ${origins}`);
await end();
