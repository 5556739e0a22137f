// The till: the keypad, and updates of the bill. counter.js shows the money.
"use strict";

const keypad = $("[data-keypad]");
if (keypad) {
  const amount = keypad.elements.amount, mark = keypad.dataset.mark;
  const digits = () => amount.value.replace(/\D/g, "").replace(/^0+/, "").slice(0, 13);
  const group = (text) => text.replace(/\B(?=(\d{3})+$)/g, mark);
  $("[data-keys]").hidden = false;
  const press = (key) => {
    amount.value = key === "back" ? digits().slice(0, -1) : digits() + key;
    amount.value = group(digits());
  };
  amount.addEventListener("input", () => press(""));
  // A keyboard also works while a key of the keypad has the focus, and Enter sends the form.
  keypad.addEventListener("keydown", (event) => {
    const key = event.target.closest("[data-key]");
    if (!key || !/^(\d|Enter|Backspace)$/.test(event.key)) return;
    event.preventDefault();
    if (event.key === "Enter") submit(keypad);
    else press(event.key === "Backspace" ? "back" : event.key);
  });
  keypad.addEventListener("click", (event) => {
    const key = event.target.closest("[data-key]")?.dataset.key;
    if (key) press(key);
  });
}

document.addEventListener("bills", ({ detail }) => {
  const list = $("[data-bills]");
  if (!list) return;
  list.innerHTML = detail;
  if ($(".offer", list)) list.closest("details").open = true;
});

// The event bill replaces the bill that the page shows.
document.addEventListener("bill", ({ detail }) => {
  const panel = $("[data-panel]");
  if ($("[data-bill]", panel)) panel.innerHTML = detail;
});
