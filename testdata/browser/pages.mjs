// Every page, in both languages and both themes, on a telephone and on a desk.
import { job, open, must, signIn, end } from './lib.mjs';

// inEveryLook looks at a page as it was loaded once.
async function inEveryLook(page, name) {
  for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await must(page, `${name} ${scheme} ${width}`);
    }
  }
}

for (const locale of ['vi-VN', 'en-US']) {
  const page = await open({ locale });
  await page.goto(job.base + '/login');
  await inEveryLook(page, `login ${locale}`);
  await signIn(page, job.name, job.password);
  for (const path of job.paths) {
    await page.goto(job.base + path);
    await inEveryLook(page, `${path} ${locale}`);
  }
  await page.context().close();
}
await end();
