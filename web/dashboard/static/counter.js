// The counter screen: cards as money comes in, a chime and a voice. It is meant
// to stay open for days, so it connects anew by itself, whatever happens.
"use strict";

const $ = (selector, from = document) => from.querySelector(selector);
const body = document.body, cards = $("#cards");
const most = 20, day = 24 * 3600;

// The stream. A browser's EventSource connects anew when a connection breaks,
// but not when it is refused, and it doesn't notice one that died silently.
const live = new URL(body.dataset.live, location.href);
let source, watchdog, retry;

const connected = (on) => {
  $("[data-state=on]").hidden = !on;
  $("[data-state=off]").hidden = on;
};

function connect() {
  source?.close();
  clearTimeout(retry);
  source = new EventSource(live);
  source.addEventListener("open", heard);
  source.addEventListener("alive", (event) => { heard(); forget(Number(event.data)); });
  source.addEventListener("total", (event) => { heard(); $("[data-total]").textContent = event.data; });
  source.addEventListener("money", (event) => { heard(); live.searchParams.set("since", event.lastEventId); show(event.data); });
  source.addEventListener("ended", () => location.reload());
  source.addEventListener("error", () => {
    connected(false);
    if (source.readyState === EventSource.CLOSED) later();
  });
}

// heard: the server is there; it speaks at least every 15 seconds.
function heard() {
  connected(true);
  clearTimeout(watchdog);
  watchdog = setTimeout(() => { connected(false); later(); }, 40_000);
}

// later tries again. Where the page itself isn't to be had any more, the
// server's own words about that take its place.
function later() {
  source.close();
  clearTimeout(watchdog);
  clearTimeout(retry);
  retry = setTimeout(async () => {
    try {
      const page = await fetch(location.href, { method: "HEAD", cache: "no-store" });
      if (page.redirected || page.status === 404 || page.status === 403) location.reload();
      else connect();
    } catch {
      later();
    }
  }, 3000 + 4000 * Math.random());
}

addEventListener("online", connect);

// Cards: html comes from the same template as those of the page.
function show(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const card = template.content.firstElementChild;
  card.classList.add("new");
  cards.prepend(card);
  while (cards.children.length > most) cards.lastElementChild.remove();
  $("[data-announce]").textContent = card.dataset.say || $(".amount", card).textContent;
  if (card.dataset.say) announce(card.dataset.say);
}

function forget(now) {
  for (const card of [...cards.children]) if (Number(card.dataset.at) < now - day) card.remove();
}

// Sound. Browsers allow it once somebody has touched the page.
const button = $("[data-sound]");
let audio, wanted = false;
try { wanted = localStorage.getItem("counter-sound") === "on"; } catch { /* storage is switched off */ }

function setSound(on) {
  button.setAttribute("aria-pressed", String(on));
  $("[data-on]", button).hidden = !on;
  $("[data-off]", button).hidden = on;
  try { localStorage.setItem("counter-sound", on ? "on" : "off"); } catch { /* as above */ }
  wanted = on;
}

async function switchOn() {
  audio ??= new AudioContext();
  await audio.resume();
  setSound(true);
  chime();
  stayAwake();
}

function chime() {
  [880, 1318.5].forEach((pitch, i) => {
    const tone = audio.createOscillator(), gain = audio.createGain(), at = audio.currentTime + i * 0.16;
    tone.frequency.value = pitch;
    gain.gain.setValueAtTime(0.0001, at);
    gain.gain.exponentialRampToValueAtTime(0.5, at + 0.02);
    gain.gain.exponentialRampToValueAtTime(0.0001, at + 0.7);
    tone.connect(gain).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.75);
  });
}

function announce(text) {
  if (!wanted || !audio) return;
  chime();
  if (!("speechSynthesis" in window)) return;
  const language = body.dataset.voice;
  const voices = speechSynthesis.getVoices(); // empty: the device doesn't tell
  const voice = voices.find((v) => v.lang.slice(0, 2).toLowerCase() === language.slice(0, 2));
  $("[data-mute-voice]").hidden = !(voices.length && !voice);
  if (voices.length && !voice) return; // another language's voice would read gibberish
  const words = new SpeechSynthesisUtterance(text);
  words.lang = language;
  if (voice) words.voice = voice;
  setTimeout(() => { speechSynthesis.resume(); speechSynthesis.speak(words); }, 450);
}

button.hidden = false;
button.addEventListener("click", (event) => {
  event.stopPropagation();
  if (wanted && audio) setSound(false);
  else switchOn();
});
// After a reload the first touch, wherever, brings the sound back.
document.addEventListener("click", () => { if (wanted && !audio) switchOn(); });

// The screen stays lit where the browser can do that.
async function stayAwake() {
  try { await navigator.wakeLock?.request("screen"); } catch { /* the battery is low */ }
}
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && audio) { stayAwake(); audio.resume(); }
});

const full = $("[data-full]");
full.hidden = !document.fullscreenEnabled;
full.addEventListener("click", () => { document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen(); });

connect();
