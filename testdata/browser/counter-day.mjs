// The counter screen for a day: 3,000 payments, and a break of the connection every
// hour of the browser's clock. Neither the page nor the server grows.
import { readdirSync } from 'node:fs';
import { job, open, check, end } from './lib.mjs';

const hours = 24, payments = 125, warm = 4; // payments an hour; after so many hours all is there once
const page = await open({ width: 1024, height: 768 });
await page.clock.install();
// Counted here, since a screen that doesn't reach the server loads itself anew.
// What a page tells as it goes may be lost, so that it loads itself anew counts too.
let breaks = 0, spoken = 0;
page.on('framenavigated', () => { breaks++; });
await page.exposeFunction('noteBreak', () => { breaks++; });
await page.exposeFunction('noteSpoken', () => { spoken++; });
await page.addInitScript(() => {
  document.addEventListener('lost', () => { window.noteBreak(); });
  window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
  Object.defineProperty(window, 'speechSynthesis', { value: { getVoices: () => [], resume() {}, speak(words) { window.noteSpoken(); words.onend(); } } });
});
await page.goto(job.base + job.counter);
await page.waitForSelector('body.is-live');
await page.click('[data-sound]');

const devtools = await page.context().newCDPSession(page);
await devtools.send('Performance.enable');
async function sizes() {
  await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const of = (name) => metrics.find((m) => m.name === name).value;
  return {
    nodes: of('Nodes'), listeners: of('JSEventListeners'), heap: of('JSHeapUsedSize'), elements: await page.locator('*').count(),
    files: readdirSync(`/proc/${job.pid}/fd`).length,
  };
}

async function pay(id) {
  const response = await fetch(job.base + job.source, {
    method: 'POST', headers: { Authorization: 'Bearer ' + job.secret },
    body: JSON.stringify({ transactions: [{ id, gateway: 'ACB', transactionNumber: id, accountNumber: '19354957', content: id, transferType: 'IN', transferAmount: 15000 }] }),
  });
  check(response.ok, `the call: ${response.status}`);
}

let before;
for (let hour = 0; hour < hours; hour++) {
  for (let i = 0; i < payments; i += 25) await Promise.all(Array.from({ length: 25 }, (_, j) => pay(`H${hour}N${i + j}`)));
  await page.waitForFunction((h) => [...document.querySelectorAll('#cards li')].some((c) => c.textContent.includes(`H${h}N`)), hour, { polling: 50 });
  const had = breaks;
  for (const end = Date.now() + 30000; breaks === had && Date.now() < end;) {
    await page.clock.fastForward('01:00:00'); // the page hears nothing for an hour, unless a payment still comes
    for (const soon = Date.now() + 3000; breaks === had && Date.now() < soon;) await new Promise((done) => { setTimeout(done, 20); });
  }
  check(breaks > had, `no break in hour ${hour}`);
  await page.waitForSelector('body.is-live');
  if (hour === warm) before = await sizes();
}
const after = await sizes();
// Connections of the calls are kept for a while: how many there are at once depends on the machine's load.
for (const end = Date.now() + 60000; after.files - before.files > 10 && Date.now() < end;) {
  await new Promise((done) => { setTimeout(done, 500); });
  after.files = readdirSync(`/proc/${job.pid}/fd`).length;
}
console.log(JSON.stringify({ before, after, spoken, breaks }));
check(await page.locator('#cards li').count() === 20, `${await page.locator('#cards li').count()} cards`);
check(spoken >= hours, 'the voice has stopped');
for (const [what, most] of Object.entries({ nodes: 100, elements: 20, listeners: 10, heap: 500_000, files: 10 })) {
  check(after[what] - before[what] <= most, `${what}: ${before[what]} after ${warm} hours, ${after[what]} after a day`);
}
await end();
