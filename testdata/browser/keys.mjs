// The keys: they are shown by ?, lead through pages and rows, and can be switched
// off. And a page on paper: light, without what only a screen needs.
import { job, open, check, must, signIn, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN', scheme: 'dark' });
await signIn(page, job.name, job.password);
const shown = () => page.evaluate(() => document.querySelector('#shortcuts').open);
await page.keyboard.press('?');
check(await shown(), '? shows no keys');
await must(page, 'keys');
await page.keyboard.press('Escape');
await page.waitForFunction(() => !document.querySelector('#shortcuts').open && document.activeElement === document.body);
await page.keyboard.press('g');
await page.keyboard.press('t');
await page.waitForURL(job.base + '/transactions');
const at = () => page.evaluate(() => [...document.querySelectorAll('#rows td.content a')].indexOf(document.activeElement));
for (const [key, want] of [['j', 0], ['j', 1], ['k', 0]]) {
  await page.keyboard.press(key);
  check(await at() === want, `${key} leads to row ${await at()}, want ${want}`);
}
await page.keyboard.press('/');
check(await page.evaluate(() => document.activeElement.name === 'q'), '/ does not search');

await page.click('[data-dialog="#shortcuts"]');
await page.uncheck('[data-shortcuts]');
await page.click('#shortcuts button');
await page.reload();
await page.keyboard.press('?');
check(!await shown(), '? works though it is switched off');
await page.keyboard.press('j');
check(await at() === -1, 'j works though it is switched off');

await page.emulateMedia({ media: 'print' });
for (const path of ['/transactions', '/transactions/1', ...job.paper]) {
  await page.goto(job.base + path);
  const paper = await page.evaluate(() => ({
    background: getComputedStyle(document.body).backgroundColor,
    ink: getComputedStyle(document.querySelector('h1')).color,
    buttons: [...document.querySelectorAll('nav:not(.pages), button, .button, form')].filter((e) => e.checkVisibility() && !e.matches('[data-rows-form], :has(.prose)')).length,
    head: document.querySelector('.printed')?.checkVisibility(),
  }));
  check(paper.background === 'rgb(255, 255, 255)', `${path} is printed on ${paper.background}`);
  check(!/rgb\((1\d\d|2\d\d)/.test(paper.ink), `${path} is printed in ${paper.ink}`);
  check(paper.buttons === 0, `${path} is printed with ${paper.buttons} buttons and forms`);
  check(paper.head, `${path} is printed without a header`);
  if (process.env.BAOCO_SCREENSHOTS) await page.screenshot({ path: `${process.env.BAOCO_SCREENSHOTS}/print${path.replace(/\W+/g, '_')}.png`, fullPage: true });
}
await end();
