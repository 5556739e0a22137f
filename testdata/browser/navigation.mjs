// The bar at the bottom of a telephone: each role's places, and all others behind
// More, with and without scripts, by touch and by keys; on paper there is none.
import { check, job, must, open, signIn, end } from './lib.mjs';

// sizes are the width and height of all links, buttons and summaries of the navigation.
const sizes = (page) => page.evaluate(() => [...document.querySelectorAll('.side nav :is(a, summary, button)')]
  .filter((e) => e.checkVisibility()).map((e) => [e.textContent.trim(), e.getBoundingClientRect()])
  .filter(([, r]) => r.width < 44 || r.height < 44).map(([text, r]) => `${text}: ${r.width}x${r.height}`));

for (const role of ['owner', 'accountant', 'developer', 'cashier']) {
  for (const scripts of [true, false]) {
    const name = `${role} ${scripts ? 'with' : 'without'} scripts`;
    const page = await open({ width: 390, height: 844, scripts });
    await signIn(page, role, job.password);
    const bar = await page.locator('.bar a, .rest summary').allInnerTexts();
    check(bar.length === 4 && bar[3].trim() === 'Thêm', `${name}: on the bar ${bar.map((s) => s.trim())}`);
    check(!await page.isVisible('.places'), `${name}: the other places are open`);
    await page.click('.rest summary');
    for (const link of await page.locator('.places a').all()) check(await link.isVisible(), `${name}: a place is hidden`);
    const small = await sizes(page);
    check(small.length === 0, `${name}: too small for a finger: ${small}`);
    if (scripts) {
      await must(page, `${role} more`);
      await page.setViewportSize({ width: 320, height: 568 });
      await must(page, `${role} more 320`);
      await page.keyboard.press('Escape');
      check(!await page.isVisible('.places'), `${name}: Escape leaves it open`);
      check(await page.evaluate(() => document.activeElement.matches('.rest summary')), `${name}: the focus is lost`);
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      check(await page.evaluate(() => document.activeElement.getAttribute('href')) === '/', `${name}: the keys don't lead to the first place`);
      await page.setViewportSize({ width: 390, height: 844 });
    }
    await page.click('.places a[href="/settings"]');
    await page.waitForURL(job.base + '/settings');
    // The end of a page isn't below the bar, nor is what has the focus.
    const [end, top] = await page.evaluate(() => {
      scrollTo(0, document.documentElement.scrollHeight);
      return [document.querySelector('#page').lastElementChild.getBoundingClientRect().bottom, document.querySelector('.bar').getBoundingClientRect().top];
    });
    check(end <= top, `${name}: the bar covers the end of the page, ${end} > ${top}`);
    await page.emulateMedia({ media: 'print' });
    check(!await page.isVisible('.bar') && !await page.isVisible('.rest'), `${name}: the bar is printed`);
    await page.context().close();
  }
}

// At a desk all places are open, and there is no bar.
const desk = await open();
await signIn(desk, 'owner', job.password);
check(await desk.isVisible('.places a[href="/keys"]') && !await desk.isVisible('.bar') && !await desk.isVisible('.rest'), 'the navigation of a desk');
await end();
