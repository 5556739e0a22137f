// The pictures of the help page sepay-shop, as a telephone shows them, in one language.
import { writeFileSync } from 'node:fs';
import { job, open, signIn, end } from './lib.mjs';

const page = await open({ locale: job.lang, width: 390, height: 1200 }); // the bar of a telephone is below what is shown
const browser = await page.context().newCDPSession(page);
const shot = async (selector, name) => {
  await page.evaluate(() => document.activeElement.blur());
  const clip = { ...await page.locator(selector).boundingBox(), scale: 1.5 };
  const { data } = await browser.send('Page.captureScreenshot', { format: 'webp', quality: 60, clip });
  writeFileSync(`${job.help}/${job.lang}/sepay-${name}.webp`, Buffer.from(data, 'base64'));
};
const key = 'k7Qm2xVd9sLw4TzR8bNc3JfH6gYp1aUe'; // of these pictures only

await signIn(page, job.name, job.password);
await page.goto(job.base + '/inbound/sources/new?provider=sepay');
await page.selectOption('[name=auth]', 'apikey');
await page.click('main button[type=submit]');
await page.waitForSelector('#secret');
await page.evaluate((key) => { document.querySelector('#secret').textContent = key; }, key);
await shot('section.card', 'source');

await page.goto(job.base + '/webhooks/new?kind=sepay');
await page.fill('[name=name]', 'shop.vn');
await page.fill('[name=webhook_url]', 'https://shop.vn/wp-json/sepay-gateway/v1/add-payment');
await page.fill('[name=secret]', key);
await shot('section.card', 'webhook');

await page.fill('[name=webhook_url]', job.shop + '/wp-json/sepay-gateway/v1/add-payment');
await page.click('main button[type=submit]');
await page.check('.kept input');
await page.click('.kept button');
await page.click('form[action$="/test"] button');
await page.waitForSelector('#outcome');
await shot('#test', 'test');
await end();
