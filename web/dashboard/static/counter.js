// The counter screen: cards as money comes in, each with its age. It is meant to
// stay open for days; live.js keeps it connected, counter-sound.js makes it heard.
"use strict";

const body = document.body, cards = $("#cards");
const most = 20, day = 24 * 3600, recent = 3 * 60; // times in seconds

// Cards: html comes from the same template as those of the page. News stands first.
// An old transfer that a statement brings only now stands at its time.
function cardOf(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

function showCard(card) {
  card.classList.add("new");
  const news = card.dataset.say || "missed" in card.dataset;
  cards.insertBefore(card, news ? cards.firstElementChild : [...cards.children].find((c) => Number(c.dataset.since) <= Number(card.dataset.since)) ?? null);
  while (cards.children.length > most) cards.lastElementChild.remove();
  showAges();
  $("[data-announce]").textContent = card.dataset.say || $(".amount", card).textContent;
  if (news) tell(card);
}

// What was matched by hand takes the place of its card, and is news once.
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

// tell makes news heard, once: what came while this page was being loaded, or was gone,
// is told by the next one in this tab.
function tell(card) {
  remember("told", Math.max(Number(remembered("told")), Number(card.dataset.id)));
  rememberMatches(card);
  if (covering.includes(card.dataset.verdict)) stop(card);
  announce(card);
}

const remembered = (key) => JSON.parse(sessionStorage.getItem(key));
const remember = (key, value) => sessionStorage.setItem(key, JSON.stringify(value));

const matchOf = (card) => card.dataset.id + " " + card.dataset.request;
const rememberMatches = (...told) => remember("matched", [...(remembered("matched") ?? []), ...told.map(matchOf)].slice(-2 * most));

// A bill that isn't simply paid covers the screen until it is tapped, one after another.
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

// Ages count by the server's clock: that of a tablet may be wrong.
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

// The screen stays lit where the browser can do that. It may take the lock away.
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

// A test payment is said to be none for half a minute, or until money comes in.
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

const told = Number(remembered("told") ?? Infinity);
for (const card of [...cards.children].reverse()) {
  if (Number(card.dataset.id) > told && (card.dataset.say || "missed" in card.dataset)) tell(card);
}
if (told === Infinity) rememberMatches(...cards.children);
if (told === Infinity) remember("told", Math.max(0, ...[...cards.children].map((card) => Number(card.dataset.id))));

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
