// The settings of the counter screen, which this device stores: volume, smallest amount to
// announce, silent hours.
"use strict";

// kept reads and writes the stored settings. Without storage they last as long as the page.
const kept = {
  get(name, otherwise) {
    try { return localStorage.getItem("counter-" + name) ?? otherwise; } catch { return otherwise; }
  },
  set(name, value) {
    try { localStorage.setItem("counter-" + name, value); } catch { /* storage is switched off */ }
  },
};

const dialog = $("[data-settings]"), form = $("form", dialog);
const fields = { volume: "100", least: "0", from: "", to: "6" };
for (const [name, otherwise] of Object.entries(fields)) {
  const field = form.elements[name];
  field.value = kept.get(name, otherwise);
  if (!field.value && otherwise) field.value = otherwise; // the stored value is no longer a choice
}

const volume = () => Number(form.elements.volume.value) / 100;
const least = () => Number(form.elements.least.value);

// isSilent reports whether the present hour of the device is a silent hour.
function isSilent() {
  const { from: { value: from }, to: { value: to } } = form.elements;
  if (from === "" || from === to) return false;
  const hour = new Date().getHours(), [begin, end] = [Number(from), Number(to)];
  return begin < end ? hour >= begin && hour < end : hour >= begin || hour < end;
}

function showSilence() {
  const quiet = $("[data-quiet]");
  quiet.hidden = !isSilent();
  quiet.textContent = quiet.dataset.text.replace("{time}", form.elements.to.value.padStart(2, "0") + ":00");
}

form.addEventListener("change", (event) => {
  kept.set(event.target.name, event.target.value);
  showSilence();
});
const opener = $("[data-open-settings]");
opener.hidden = !dialog.showModal;
opener.addEventListener("click", () => dialog.showModal());
showSilence();
