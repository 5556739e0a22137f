// What is printed, as the PDF that Chromium makes of it: how large its pages are, how many
// there are, and what stands on them.
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import { job, open, check, must, signIn, end } from './lib.mjs';

const page = await open({ locale: 'vi-VN', width: 390, height: 844, scheme: 'dark' });
await page.addInitScript(() => { window.printed = 0; window.print = () => { window.printed++; }; });
await signIn(page, job.name, job.password);

// says checks that all texts stand on the page as it is shown now.
async function says(name, texts, before = '') {
  const text = (before + await page.evaluate(() => document.body.innerText)).replace(/\s+/g, ' ');
  for (const wanted of texts) check(text.includes(wanted), `${name}: no “${wanted}” in ${text.slice(0, 600)}`);
}

// The shift is closed: what is still open is named first.
await page.goto(job.base + '/shifts/1');
await must(page, 'shift to close');
const waiting = await page.locator('.attention').innerText();
check(waiting.includes('(20)') && job.open.every((code) => waiting.includes(code)), `open bills: ${waiting}`);
await says('shift to close', job.figures);
await page.fill('[name=cash]', '1234k');
await page.fill('[name=note]', 'đủ tờ 500');
await page.getByRole('button', { name: 'Vẫn đóng ca' }).click();
await says('closed shift', ['Đã đóng ca.', ...job.figures]);
check(await page.locator('[name=cash]').count() === 0, 'a closed shift is closed again');

// runs are the texts of each page of a PDF, as they are written with glyphs of its fonts.
function runs(pdf) {
  const streams = [...pdf.matchAll(/stream\r?\n([^]*?)\r?\nendstream/g)].map((m) => { try { return inflateSync(Buffer.from(m[1], 'latin1')).toString('latin1'); } catch { return ''; } });
  return streams.filter((s) => /\bBT\b[^]*\bT[jJ]\b/.test(s)).map((s) => s.match(/(<[0-9A-F]+>|\[[^\]]*\])(?= *T[jJ])/g) ?? []);
}

// A list of several pages is printed whole, by one click.
await page.goto(job.base + '/transactions?type=IN&min=1k');
await page.getByRole('link', { name: 'In tất cả' }).click();
await page.waitForFunction(() => window.printed === 1);
await must(page, 'list to print');
check(await page.getByRole('link', { name: 'Về danh sách' }).getAttribute('href') === '/transactions?min=1k&page=1&type=IN', 'the way back from the printed list');

for (const paper of job.papers) {
  await page.goto(job.base + paper.path);
  if (paper.roll) await must(page, `slip ${paper.path}`);
  await page.emulateMedia({ media: 'print' });
  const name = `${paper.path} on paper`;
  const shot = process.env.BAOCO_SCREENSHOTS && path.join(process.env.BAOCO_SCREENSHOTS, name.replace(/\W+/g, '_'));
  const pdf = (await page.pdf({ preferCSSPageSize: true,
    path: shot && shot + '.pdf' })).toString('latin1');
  const sizes = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map((m) => [m[1], m[2]].map((points) => Math.round(points / 72 * 25.4)));
  console.log(`${name}: ${sizes.length} pages of ${sizes[0].join(' × ')} mm`);
  if (paper.roll) {
    check(sizes.length === 1 && sizes[0][0] === 58, `${name}: ${sizes.length} pages of ${sizes[0]} mm`);
    await page.setViewportSize({ width: 181, height: 844 }); // 48 mm
    const used = await page.evaluate(() => document.querySelector('main').getBoundingClientRect().height / 96 * 25.4);
    await says(name, paper.texts ?? []);
    check(sizes[0][1] < used * 1.3 + 25, `${name}: ${Math.round(used)} mm are printed on ${sizes[0][1]}`);
  } else {
    check(sizes.every(([width, height]) => width === 210 && height === 297), `${name}: pages of ${sizes[0]} mm`);
    check(sizes.length === paper.pages, `${name}: ${sizes.length} pages, want ${paper.pages}`);
    await page.setViewportSize({ width: 703, height: 844 }); // 186 mm
    if (shot) await page.screenshot({ path: shot + '.png', fullPage: true });
    const seen = await page.evaluate(() => ({ rows: document.querySelectorAll('tbody tr:not(.day)').length, heads: [...document.querySelectorAll('thead')].every((head) => head.checkVisibility()),
      feet: [...document.querySelectorAll('tfoot')].filter((foot) => getComputedStyle(foot).display === 'table-footer-group').length,
      cut: [...document.querySelectorAll('td.content > *')].filter((content) => content.scrollHeight > content.clientHeight + 1 && content.clientHeight).length, filter: document.querySelector('.chips') ? getComputedStyle(document.querySelector('.chips'), '::before').content : '',
      wide: Math.max(...[...document.querySelectorAll('table')].map((table) => table.getBoundingClientRect().right)) }));
    check(seen.heads && seen.wide <= 703, `${name}: heads of tables: ${seen.heads}, ${seen.wide} px wide`);
    check(seen.feet === 0, `${name}: the totals stand at the end of each page`);
    check(seen.cut === 0, `${name}: ${seen.cut} contents are cut`);
    await says(name, paper.texts, seen.filter);
    if (paper.rows) {
      check(seen.rows === paper.rows, `${name}: ${seen.rows} rows, want ${paper.rows}`);
      const sheets = runs(pdf);
      const heads = sheets[0].filter((run) => sheets.every((sheet) => sheet.filter((other) => other === run).length === 1));
      check(heads.length >= 4, `${name}: ${heads.length} texts stand once on each page: the heads of the columns don't`);
    }
  }
  await page.emulateMedia({ media: 'screen' });
  await page.setViewportSize({ width: 390, height: 844 });
}

// The signature of a book stands below lines of the book, however many there are.
await page.goto(job.base + '/book/sheet?form=s1a');
await page.emulateMedia({ media: 'print' });
const sheets = async () => runs((await page.pdf({ preferCSSPageSize: true })).toString('latin1'));
const ends = []; // how many texts stand on the last page
for (let lines = 24; lines < 34; lines++) {
  await page.evaluate((lines) => { const body = document.querySelector('tbody'); while (body.rows.length < lines) body.prepend(body.rows[0].cloneNode(true)); }, lines);
  ends.push((await sheets()).at(-1).length);
}
await page.evaluate(() => document.querySelector('main').replaceChildren(document.querySelector('footer')));
const [signature] = await sheets();
check(Math.min(...ends) > signature.length, `texts on the last page of a book: ${ends}, of which ${signature.length} are the signature's`);
check(Math.min(...ends) < Math.max(...ends) / 2, `no book goes on on another page: ${ends}`);

// The payer's page, to which a receipt leads.
for (const [i, url] of job.pay.entries()) {
  for (const [width, lang] of [[320, 'vi'], [390, 'en']]) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(`${job.base}${url}?lang=${lang}`);
    await must(page, `payer's page ${i} ${lang}`);
  }
}
await end();
