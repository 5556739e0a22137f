// Live pages. follow keeps the stream of the server's events open, and says across
// the page since when there is no connection. A live page of the dashboard asks
// for itself anew when something has changed; the counter screen has events of its
// own.
"use strict";

const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

// Browsers of 2021 and 2022, on devices that get no newer one, have none of
// AbortSignal.timeout, requestSubmit and, some, showModal: these two stand for the first
// two. before is the signal of a request that may take a time in milliseconds.
function before(time) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), time);
  return controller.signal;
}

// submit sends a form as a click on the button does.
function submit(form, button) {
  if (form.requestSubmit) form.requestSubmit(button);
  else (button ?? $("[type=submit]", form)).click();
}

// Times in milliseconds. The server speaks every 4 seconds.
const silence = 7_500; // after it a connection counts as dead
const patience = 4_000; // for the server to answer whether it is back

// follow listens to the events of the stream at address. listen has a function for
// each name. An event's id becomes the parameter since of the address, with which
// a new connection goes on.
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

  // ask finds out whether the server is back. Where the page isn't to be had any
  // more, the server's own words about that take its place. Where a proxy answers for a
  // server that is away, the new connection fails.
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
  // The watchdog of a page in the background or on a device that slept may be late.
  document.addEventListener("visibilitychange", () => { if (!document.hidden && Date.now() - heardAt > silence) ask(); });
  connect();
}

// SharedStream is the stream of all live pages of this browser, in the form of an
// EventSource.
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

// What a proxy answers by itself has no such header, and says nothing of the page.
const own = (page) => page.headers.has("X-Request-Id");
const gone = (page) => own(page) && (page.redirected || [401, 403, 404].includes(page.status));

// connected shows the bar, or hides it where since is 0. The time is announced
// once, the age goes on.
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

// The rest is for the live pages of the dashboard. refresh loads the page anew, at
// once, but not more often than once a second; in the background every 5 seconds.
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

// show puts what differs in a newer page into this one. Rows don't move under
// the pointer, under the reader's eyes or while some are ticked: new ones wait until they are asked for,
// while those that are there go on changing.
let shown = document.body.dataset.live; // what the page was made with
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

let askedFor = false; // somebody asked for the rows that wait
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
  // What somebody has opened stays open, and a mark stays until it has faded.
  document.addEventListener("htmx:before:morph:attr", (event) => {
    const name = event.detail.attrName;
    if (name === "open" || name === "class" && event.target.classList.contains("new")) event.preventDefault();
  });
  $("[data-held]").addEventListener("click", () => { scrollTo({ top: 0 }); document.activeElement?.blur(); askedFor = true; refresh(); });
  document.addEventListener("mouseout", (event) => { if (!$("[data-held]").hidden && event.target.closest("[data-rows]")) refresh(); });
  // Some things change without a new row: ages, a webhook that is switched off.
  follow("/live", { changed: (event) => { if (event.data !== shown) refresh(); }, alive: () => { if (Date.now() - loadedAt > 60_000) refresh(); } });
}
