// The counter screen shows a card for each payment, with its age. It must be able to stay open
// for days. live.js keeps it connected, counter-sound.js makes its sounds.
"use strict";

const body = document.body, cards = $("#cards");
const most = 20, day = 24 * 3600, recent = 3 * 60; // most: cards; the others in seconds

// cardOf makes a card of html, which comes from the same template as the cards of the page.
function cardOf(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

// showCard puts a new payment first. It puts an old transfer, which only now came with a
// statement, at the place of its time.
function showCard(card) {
  card.classList.add("new");
  const news = card.dataset.say || "missed" in card.dataset;
  cards.insertBefore(card, news ? cards.firstElementChild : [...cards.children].find((c) => Number(c.dataset.since) <= Number(card.dataset.since)) ?? null);
  while (cards.children.length > most) cards.lastElementChild.remove();
  showAges();
  $("[data-announce]").textContent = card.dataset.say || $(".amount", card).textContent;
  if (news) announceOnce(card);
}

// showMatched replaces the card of a payment that was matched by hand. A new match is announced
// once.
function showMatched(card) {
  const shown = $(`[data-id="${card.dataset.id}"]`, cards);
  if (card.dataset.say && !remembered("matched")?.includes(matchOf(card))) {
    shown?.remove();
    showCard(card);
  } else if (shown) {
    shown.replaceWith(card);
    showAges();
  }
}

// announceOnce announces a new payment. Payments that came while no page was open in this tab
// are announced by the next page.
function announceOnce(card) {
  remember("told", Math.max(Number(remembered("told")), Number(card.dataset.id)));
  rememberMatches(card);
  if (covering.includes(card.dataset.verdict)) stop(card);
  announce(card);
}

const remembered = (key) => JSON.parse(sessionStorage.getItem(key));
const remember = (key, value) => sessionStorage.setItem(key, JSON.stringify(value));

const matchOf = (card) => card.dataset.id + " " + card.dataset.request;
const rememberMatches = (...matched) => remember("matched", [...(remembered("matched") ?? []), ...matched.map(matchOf)].slice(-2 * most));

// A payment that doesn't simply pay its bill covers the screen until somebody taps it. Several
// are shown one after another.
const covering = ["short", "over", "check"], alarming = [...covering, "small"];
const stops = remembered("stops") ?? [], stopped = $("[data-stop]");
function stop(card) {
  stops.push([card.dataset.verdict, $(".verdict", card).textContent, $(".amount", card).textContent + " · " + $(".text", card).textContent]);
  if (stops.length > most) stops.shift();
  remember("stops", stops);
  if (stopped.hidden) showStop();
}

function showStop() {
  stopped.hidden = !stops.length;
  if (!stops.length) return;
  [stopped.dataset.verdict, $("[data-stop-text]").textContent, $("[data-stop-of]").textContent] = stops[0];
  $("[data-stop-seen]").focus();
}
stopped.addEventListener("click", () => { stops.shift(); remember("stops", stops); showStop(); });
showStop();

// Ages are counted by the server's clock, since the clock of a tablet may be wrong.
let ahead = Number(body.dataset.now) - Date.now() / 1000;
const ageWords = new Intl.RelativeTimeFormat(document.documentElement.lang);
function showAges() {
  const now = Date.now() / 1000 + ahead;
  for (const card of [...cards.children]) {
    if (Number(card.dataset.at) < now - day) card.remove();
    const age = Math.max(0, now - Number(card.dataset.since));
    const words = age < 60 ? body.dataset.recent : age < 3600 ? ageWords.format(-Math.floor(age / 60), "minute") : ageWords.format(-Math.floor(age / 3600), "hour");
    const text = $("[data-age]", card);
    if (text.textContent !== words) text.textContent = words;
    card.classList.toggle("old", age >= recent);
  }
}
showAges();
setInterval(() => { showAges(); showSilence(); stayAwake(); }, 5_000);

// The screen stays on if the browser can do that. The browser may release the lock at any time.
let lock;
async function stayAwake() {
  if (document.hidden || lock && !lock.released) return;
  try { lock = await navigator.wakeLock?.request("screen"); } catch { /* the battery is low */ }
}
stayAwake();
document.addEventListener("visibilitychange", () => { showAges(); stayAwake(); });

const full = $("[data-full]");
full.hidden = !document.fullscreenEnabled;
full.addEventListener("click", () => { document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen(); });

// A note says for half a minute, or until money comes in, that a test payment is no money.
let testShown;
function showTest() {
  const note = $("[data-test]");
  note.hidden = false;
  $("[data-announce]").textContent = note.dataset.say;
  clearTimeout(testShown);
  testShown = setTimeout(hideTest, 30_000);
  announceTest(note.dataset.say);
}

function hideTest() { $("[data-test]").hidden = true; }

const lastAnnounced = Number(remembered("told") ?? Infinity);
for (const card of [...cards.children].reverse()) {
  if (Number(card.dataset.id) > lastAnnounced && (card.dataset.say || "missed" in card.dataset)) announceOnce(card);
}
if (lastAnnounced === Infinity) rememberMatches(...cards.children);
if (lastAnnounced === Infinity) remember("told", Math.max(0, ...[...cards.children].map((card) => Number(card.dataset.id))));

follow(body.dataset.stream, {
  test: showTest,
  alive: (event) => { ahead = Number(event.data) - Date.now() / 1000; showAges(); },
  total: (event) => { $("[data-total]").textContent = event.data; },
  money: (event) => { hideTest(); showCard(cardOf(event.data)); },
  matched: (event) => showMatched(cardOf(event.data)),
  removed: (event) => { for (const id of event.data.split(" ")) $(`[data-id="${id}"]`, cards)?.remove(); },
  bills: (event) => { document.dispatchEvent(new CustomEvent("bills", { detail: event.data })); },
  bill: (event) => { document.dispatchEvent(new CustomEvent("bill", { detail: event.data })); },
});
