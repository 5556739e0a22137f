// The till: keys for digits, and the bill as it changes. counter.js tells of the money.
"use strict";

const keypad = $("[data-keypad]");
if (keypad) {
  const amount = keypad.elements.amount, mark = keypad.dataset.mark;
  const digits = () => amount.value.replace(/\D/g, "").replace(/^0+/, "").slice(0, 13);
  const group = (text) => text.replace(/\B(?=(\d{3})+$)/g, mark);
  $("[data-keys]").hidden = false;
  amount.addEventListener("input", () => { amount.value = group(digits()); });
  keypad.addEventListener("click", (event) => {
    const key = event.target.closest("[data-key]")?.dataset.key;
    if (!key) return;
    amount.value = group(key === "back" ? digits().slice(0, -1) : (digits() + key).slice(0, 13));
    amount.value = group(digits());
  });
}

// What differs in the bill takes the place of what was shown.
document.addEventListener("bill", ({ detail }) => {
  const panel = $("[data-panel]");
  if ($("[data-bill]", panel)) panel.innerHTML = detail;
});
