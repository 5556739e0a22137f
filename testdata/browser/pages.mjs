// Every page, in both languages and both themes, on a telephone and on a desk.
import { job, open, must, signIn, end } from './lib.mjs';

for (const locale of ['vi-VN', 'en-US']) {
  for (const scheme of ['light', 'dark']) {
    const page = await open({ locale, scheme });
    await page.goto(job.base + '/login');
    await must(page, `login ${locale} ${scheme}`);
    await signIn(page, job.name, job.password);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of job.paths) {
        await page.goto(job.base + path);
        await must(page, `${path} ${locale} ${scheme} ${width}`);
      }
    }
    await page.context().close();
  }
}
await end();
