// The sound of the counter screen: a chime and a voice for money, and another tone while there
// is no connection. Browsers allow sound only after somebody has touched the page.
"use strict";

const button = $("[data-sound]"), touch = $("[data-touch]");
let audio, wanted = false;

const isRunning = () => audio?.state === "running";
const asks = () => wanted && !isRunning(); // the screen asks for a touch
const mayBeHeard = () => wanted && isRunning() && !isSilent();

// setSound switches the sound on or off. If it is on but the browser doesn't allow it yet, the
// whole screen asks for a touch.
function setSound(on) {
  wanted = on;
  kept.set("sound", on ? "on" : "off");
  if (on && !audio) {
    audio = new AudioContext();
    audio.addEventListener("statechange", () => { showSound(); if (!speaking) speakNext(); });
  }
  showSound();
}

function showSound() {
  button.setAttribute("aria-pressed", String(wanted));
  $("[data-on]", button).hidden = !wanted;
  $("[data-off]", button).hidden = wanted;
  touch.hidden = !asks();
  if (asks()) touch.focus();
}

async function switchOn() {
  setSound(true);
  await audio.resume();
  if (!speaking) speakNext();
  if (!speaking) chime(); // no payment waits
}

button.hidden = false;
button.addEventListener("click", () => { if (wanted) setSound(false); else switchOn(); });
touch.addEventListener("click", switchOn);
$("[data-try]").addEventListener("click", switchOn);
document.addEventListener("visibilitychange", () => { if (wanted && !document.hidden) audio.resume(); });
if (kept.get("sound") === "on") setSound(true);

// play plays pitches in Hz, apart seconds after one another.
function play(pitches, apart) {
  pitches.forEach((pitch, i) => {
    const tone = audio.createOscillator(), gain = audio.createGain(), at = audio.currentTime + i * apart;
    tone.frequency.value = pitch;
    gain.gain.setValueAtTime(0.0001, at);
    gain.gain.exponentialRampToValueAtTime(0.5 * volume(), at + 0.02);
    gain.gain.exponentialRampToValueAtTime(0.0001, at + 0.7);
    tone.connect(gain).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.75);
  });
}
const chime = () => play([880, 1318.5], 0.16);
const alarm = () => play([660, 440, 660, 440], 0.22);
const warn = () => { if (mayBeHeard()) play([330, 247, 330, 247], 0.35); };

// Without a connection for 5 seconds the tone sounds, and then every minute.
let warning;
document.addEventListener("lost", () => { warning = setTimeout(() => { warn(); warning = setInterval(warn, 60_000); }, 5_000); });
document.addEventListener("connected", () => clearTimeout(warning)); // also clears an interval

// Payments wait for the voice in a queue. One sentence is spoken for all payments that came
// without a connection, that came while the screen asked for a touch or that waited for more
// than a minute, and for all if more than three wait. After five minutes a payment is dropped.
// A payment that somebody must look at has another sound and comes first. If the page is
// left, the next page in this tab speaks the rest of the queue.
let queue = [], speaking = false;
function announce(card) {
  const { say, amount, missed, verdict } = card.dataset, alarms = alarming.includes(verdict);
  if (!say && missed === undefined || Number(amount) < least() && !alarms || !wanted || isSilent()) return;
  queue.push({ say: asks() ? "" : say, amount: Number(amount), alarms, at: Date.now() });
  if (!speaking) speakNext();
}

addEventListener("pagehide", () => { remember("unspoken", queue); queue = []; });
addEventListener("pageshow", () => {
  queue.push(...remembered("unspoken") ?? []);
  remember("unspoken", []);
  if (!speaking) speakNext();
});

// A test payment has a sound of its own, and isn't announced while a payment is spoken.
function announceTest(text) {
  if (speaking || !mayBeHeard()) return;
  play([440, 440], 0.5);
  speak(text);
}

async function speakNext() {
  queue = queue.filter((payment) => Date.now() - payment.at < 300_000);
  speaking = queue.length > 0 && mayBeHeard();
  if (!speaking) {
    if (!asks()) queue = [];
    return;
  }
  const isLate = (payment) => !payment.say || Date.now() - payment.at > 60_000;
  const isAlarm = (payment) => payment.alarms && !isLate(payment);
  const alarms = queue.some(isAlarm);
  alarms ? alarm() : chime();
  await new Promise((done) => setTimeout(done, alarms ? 1000 : 450)); // the sound is heard first, and payments of the same moment gather
  const late = queue.length > 3 ? queue.filter((payment) => !isAlarm(payment)) : queue.filter(isLate);
  let text;
  if (queue.some(isAlarm)) {
    text = queue.splice(queue.findIndex(isAlarm), 1)[0].say;
  } else if (late.length) {
    queue = queue.filter((payment) => !late.includes(payment));
    text = await backlog(late.length, late.reduce((sum, payment) => sum + payment.amount, 0));
  } else {
    text = queue.shift()?.say; // the queue is empty if the page was left meanwhile
  }
  if (text) await speak(text);
  speakNext();
}

// backlog asks the server for the sentence, since only the server can write a sum in words.
// Without an answer the sentence has only the count.
async function backlog(count, sum) {
  try {
    const answer = await fetch(`/counter/backlog?count=${count}&sum=${sum}`, { signal: before(3_000) });
    if (answer.ok) return await answer.text();
  } catch { /* the sentence without the sum */ }
  return document.body.dataset.backlog.replace("{n}", count);
}

// speak waits until the text is spoken, or for a time: some browsers never report the end.
async function speak(text) {
  if (!("speechSynthesis" in window)) return;
  const language = document.body.dataset.voice;
  const voices = speechSynthesis.getVoices(); // empty: the device doesn't list its voices
  const voice = voices.find((v) => v.lang.slice(0, 2).toLowerCase() === language.slice(0, 2));
  $("[data-mute-voice]").hidden = !(voices.length && !voice);
  if (voices.length && !voice) return; // another language's voice would read gibberish
  const words = new SpeechSynthesisUtterance(text);
  words.lang = language;
  words.volume = volume();
  if (voice) words.voice = voice;
  await new Promise((done) => {
    words.onend = words.onerror = done;
    setTimeout(done, 3_000 + text.length * 150);
    speechSynthesis.resume();
    speechSynthesis.speak(words);
  });
}
