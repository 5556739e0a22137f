// Live pages. follow keeps the event stream open, and shows a bar that says since when there is
// no connection. A live page of the dashboard requests itself again when something has
// changed; the counter screen has events of its own.
"use strict";

const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

// Browsers of 2021 and 2022, on devices without newer ones, lack AbortSignal.timeout and
// requestSubmit, and some lack showModal: before and submit replace the first two. before is
// the signal that ends a request after a time in milliseconds.
function before(time) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), time);
  return controller.signal;
}

// submit sends a form like a click on its button.
function submit(form, button) {
  if (form.requestSubmit) form.requestSubmit(button);
  else (button ?? $("[type=submit]", form)).click();
}

// Times are in milliseconds. The server sends an event every 4 seconds.
const silence = 7_500; // after such a time without an event the connection counts as dead
const patience = 4_000; // the timeout of ask

// follow handles the events of the stream at address. listen has a function for each event
// name. The id of an event becomes the parameter since of the address, so that a new
// connection continues after it.
function follow(address, listen) {
  const url = new URL(address, location.href);
  let source, watchdog, retry, heardAt = Date.now();

  function connect() {
    source?.close();
    clearTimeout(retry);
    source = document.body.dataset.worker && window.SharedWorker ? new SharedStream(url) : new EventSource(url);
    watch();
    for (const name of new Set(["alive", ...Object.keys(listen)])) {
      source.addEventListener(name, (event) => {
        heardAt = Date.now();
        watch();
        connected(0);
        if (event.lastEventId) url.searchParams.set("since", event.lastEventId);
        listen[name]?.(event);
      });
    }
    source.addEventListener("ended", () => location.reload());
    source.addEventListener("error", () => lost(3_000));
  }

  function watch() {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => lost(0), silence);
  }

  function lost(wait) {
    source?.close();
    clearTimeout(watchdog);
    clearTimeout(retry);
    connected(heardAt);
    retry = setTimeout(ask, wait * (0.7 + 0.3 * Math.random()));
  }

  // ask finds out whether the server can be reached again. If the visitor can't get this page
  // any more, ask reloads it, so that the server says why. If only a proxy answers, the new
  // connection fails.
  async function ask() {
    clearTimeout(retry);
    try {
      const page = await fetch(location.href, { method: "HEAD", cache: "no-store", signal: before(patience) });
      if (gone(page)) location.reload();
      else connect();
    } catch {
      lost(1_000);
    }
  }

  addEventListener("online", ask);
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) ask(); });
  // In the background, or while the device sleeps, the watchdog may run late.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && Date.now() - heardAt > silence) ask(); });
  connect();
}

// SharedStream is the shared stream of live-worker.js, with the interface of an EventSource.
class SharedStream extends EventTarget {
  constructor(url) {
    super();
    this.port = new SharedWorker(document.body.dataset.worker).port;
    this.port.onmessage = ({ data: { name, data } }) => this.dispatchEvent(new MessageEvent(name, { data }));
    this.port.postMessage(url.href);
  }
  close() {
    this.port.postMessage("close");
    this.port.close();
  }
}

// Only the server's answers have this header. An answer of a proxy says nothing about the page.
const own = (page) => page.headers.has("X-Request-Id");
const gone = (page) => own(page) && (page.redirected || [401, 403, 404].includes(page.status));

// connected shows the bar, or hides it if since is 0. Screen readers announce the time once;
// the age is updated every second.
let offlineSince = 0;
function connected(since) {
  document.body.classList.toggle("is-live", !since);
  const bar = $("[data-offline]");
  bar.hidden = !since;
  if (since && !offlineSince) {
    const at = new Date(since).toLocaleTimeString(document.documentElement.lang, { hour12: false, timeZone: bar.dataset.zone });
    bar.firstElementChild.textContent = bar.firstElementChild.dataset.text.replace("{time}", at);
  }
  const changed = !since !== !offlineSince;
  offlineSince = since;
  showAge();
  if (changed) document.dispatchEvent(new Event(since ? "lost" : "connected"));
}

function showAge() {
  if (!offlineSince) return;
  const text = $("[data-offline]").lastElementChild;
  text.textContent = text.dataset.text.replace("{age}", ago((Date.now() - offlineSince) / 1000));
}
setInterval(showAge, 1000);

function ago(age) {
  const [n, unit] = age < 60 ? [age, "second"] : age < 3600 ? [age / 60, "minute"] : [age / 3600, "hour"];
  return new Intl.RelativeTimeFormat(document.documentElement.lang).format(-Math.floor(n), unit);
}

// The rest is for the live pages of the dashboard. refresh loads the page again at once, but
// not more than once a second, or in the background once in 5 seconds.
let loading, loadedAt = Date.now() - 1000;
function refresh() {
  loading ??= setTimeout(load, loadedAt + (document.hidden ? 5000 : 1000) - Date.now());
}

async function load() {
  loadedAt = Date.now();
  try {
    const page = await fetch(location.href, { headers: { "X-Live": "1" }, cache: "no-store", signal: before(10_000) });
    if (gone(page)) location.reload();
    if (own(page) && page.status < 500) await show(new DOMParser().parseFromString(await page.text(), "text/html"));
    else throw new Error(page.status);
    loading = undefined;
  } catch {
    loading = undefined;
    if (!offlineSince) refresh();
  }
}

// show replaces the parts of this page that differ in a newer page. Rows don't move while the
// pointer or the focus is on them, while some are ticked or while the page is scrolled down:
// then new rows wait for a click, and only the rows that are shown are updated.
let shown = document.body.dataset.live; // the position of this page
const known = new Set($$("[data-rows] tr").map((row) => row.id));
const isNew = (row) => row.id && !row.matches(".day") && !known.has(row.id);
async function show(page) {
  const rows = $("[data-rows]"), next = $("[data-rows]", page), held = $("[data-held]");
  const fresh = next ? [...next.rows].filter(isNew) : [];
  const hold = rows && next && fresh.length > 0 && !askedFor && isRead(rows);
  askedFor = false;
  if (hold) {
    const kept = rows.cloneNode(true);
    for (const row of kept.rows) {
      const newer = row.id && page.getElementById(row.id);
      if (newer) row.replaceWith(newer);
    }
    next.replaceWith(kept);
  }
  held.hidden = !hold;
  held.textContent = `${fresh.length} ${held.dataset.text}`;
  const now = $("#page");
  await htmx.swap({ sourceElement: now, target: now, select: "#page", swap: "outerMorph ignoreTitle:true", text: page.documentElement.outerHTML });
  shown = page.body.dataset.live;
  if (!hold) arrived(fresh.map((row) => document.getElementById(row.id)).filter(Boolean));
  document.dispatchEvent(new Event("refreshed"));
}

let askedFor = false; // the visitor asked for the rows that wait
const isRead = (rows) => rows.matches(":hover") || $(":checked", rows) || rows.contains(document.activeElement) || rows.getBoundingClientRect().top < 0;

// arrived marks new rows, announces the newest payment, and counts payments in the
// title of a tab in the background.
let unseen = 0;
const title = document.title;
function arrived(rows) {
  for (const row of rows) {
    known.add(row.id);
    row.classList.add("new");
    row.addEventListener("animationend", () => row.classList.remove("new"), { once: true });
  }
  if (!rows.length || $("[data-rows]").dataset.rows !== "money") return;
  const say = $("[data-announce]"), [first] = rows;
  if (say) say.textContent = $(".amount", first).textContent.trim() + " " + $(".content", first).textContent.trim();
  if (document.hidden) unseen += rows.length;
  document.title = unseen ? `(${unseen}) ${title}` : title;
}
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  unseen = 0;
  document.title = title;
});

if (document.body.dataset.live) {
  // Elements that the visitor has opened stay open, and a mark stays until it has faded.
  document.addEventListener("htmx:before:morph:attr", (event) => {
    const name = event.detail.attrName;
    if (name === "open" || name === "class" && event.target.classList.contains("new")) event.preventDefault();
  });
  $("[data-held]").addEventListener("click", () => { scrollTo({ top: 0 }); document.activeElement?.blur(); askedFor = true; refresh(); });
  document.addEventListener("mouseout", (event) => { if (!$("[data-held]").hidden && event.target.closest("[data-rows]")) refresh(); });
  // Once a minute the page is refreshed without an event: ages change without a new row.
  follow("/live", { changed: (event) => { if (event.data !== shown) refresh(); }, alive: () => { if (Date.now() - loadedAt > 60_000) refresh(); } });
}
