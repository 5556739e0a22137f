// The counter screen: cards as money comes in, a chime and a voice. It is meant
// to stay open for days; live.js keeps it connected.
"use strict";

const body = document.body, cards = $("#cards");
const most = 20, day = 24 * 3600;

// Cards: html comes from the same template as those of the page.
function showCard(html) {
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

follow(body.dataset.stream, {
  alive: (event) => forget(Number(event.data)),
  total: (event) => { $("[data-total]").textContent = event.data; },
  money: (event) => showCard(event.data),
});
