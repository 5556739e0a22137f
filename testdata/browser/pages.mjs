// Every page, in both languages and both themes, on a telephone and on a desk: each
// two of these together. The newest amount is within the first screen. No table
// hides a part of itself on the screens between them.
import { check, fits, job, moneyFirst, open, must, signIn, end } from './lib.mjs';

// inEveryLook looks at a page as it was loaded once.
async function inEveryLook(page, name, locale) {
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const look = `${name} ${locale} ${scheme} ${width}`;
      if ((scheme === 'light') === (width === 1280) === (locale === 'vi-VN')) await must(page, look);
      else await fits(page, look);
    }
  }
  await page.setViewportSize({ width: 320, height: 568 });
  await fits(page, `${name} ${locale} 320`);
  for (const width of [641, 800, 960, 961, 1100, 1263, 1264]) {
    await page.setViewportSize({ width, height: 900 });
    const hidden = await page.evaluate(() => [...document.querySelectorAll('.scroll')]
      .filter((e) => e.checkVisibility({ contentVisibilityAuto: true })).map((e) => e.scrollWidth - e.clientWidth).filter((px) => px > 0));
    check(hidden.length === 0, `${name}: tables hide ${hidden} px on a screen of ${width}`);
  }
}

async function visit(locale) {
  const page = await open({ locale });
  await page.goto(job.base + '/login');
  await inEveryLook(page, 'login', locale);
  await signIn(page, job.name, job.password);
  for (const path of job.paths) {
    await page.goto(job.base + path);
    try {
      await inEveryLook(page, path, locale);
    } catch (e) {
      throw new Error(`${path}, now ${page.url()}`, { cause: e });
    }
  }
  await moneyFirst(page);
  await page.focus('[data-plot]');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  check(/^(Hôm qua|Yesterday): /.test(await page.textContent('[data-readout]')), 'the keys do not read the chart out');
  await page.hover('[data-plot] g:last-of-type', { force: true });
  check(/^(Hôm nay|Today): \+/.test(await page.textContent('[data-readout]')), 'the pointer does not read the chart out');
  await page.context().close();
}

// Without scripts too every page is whole: its heading is there, and it fits.
async function visitWithoutScripts() {
  const page = await open({ width: 390, height: 844, scripts: false });
  await signIn(page, job.name, job.password);
  for (const path of job.paths) {
    await page.goto(job.base + path);
    check(await page.locator('h1:visible, h2:visible, .problem:visible').count() > 0, `${path} is empty without scripts`);
    await fits(page, `${path} without scripts`);
  }
  await page.context().close();
}
await Promise.all([...['vi-VN', 'en-US'].map(visit), visitWithoutScripts()]);
await end();
