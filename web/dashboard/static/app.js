// The dashboard works without this file. With it, it is quicker to use: for example, a click
// copies a secret.
"use strict";

// Escape closes the navigation, which covers the page on a narrow screen.
document.addEventListener("keydown", (event) => {
  const rest = $("[data-rest]");
  if (event.key !== "Escape" || !rest?.open) return;
  rest.open = false;
  rest.firstElementChild.focus();
});

// A button is marked as busy until its answer comes. Some answers are files, after which the
// page stays: so the mark is removed after a time.
document.addEventListener("submit", ({ target: form, submitter }) => {
  if (form.method !== "post" || !submitter) return;
  submitter.setAttribute("aria-busy", "true");
  setTimeout(() => submitter.removeAttribute("aria-busy"), "upload" in form.dataset ? 120_000 : 15_000);
});
addEventListener("pageshow", () => { for (const e of $$("[aria-busy]")) e.removeAttribute("aria-busy"); });

// Copy buttons: data-copy is the selector of the text to copy. On a plain http address browsers
// have no clipboard: there the old command copies. If that fails too, the text stays
// selected, and the button says how to copy it.
async function copy(from) {
  try {
    await navigator.clipboard.writeText(from.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(from);
    const done = document.execCommand("copy");
    if (done) getSelection().removeAllRanges();
    return done;
  }
}
const copied = new WeakMap(); // by button: its label, and the timer that restores it
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const done = await copy($(button.dataset.copy));
  const shown = copied.get(button) ?? { label: [...button.childNodes] };
  copied.set(button, shown);
  button.textContent = done ? button.dataset.done : document.body.dataset.copyByHand;
  clearTimeout(shown.timer);
  shown.timer = setTimeout(() => button.replaceChildren(...shown.label), done ? 1500 : 8000);
});

// Countdowns: data-until is the instant at which they end.
function countDown() {
  for (const e of $$("[data-until]")) {
    const left = Math.max(0, Math.ceil((Date.parse(e.dataset.until) - Date.now()) / 1000));
    e.textContent = `(${e.dataset.left} ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")})`;
  }
}
countDown();
setInterval(countDown, 1000);
document.addEventListener("refreshed", countDown);

// These helpers need scripts: without them the browser's menu prints, and each row is ticked by
// itself.
function showHelpers() {
  for (const helper of $$("[data-print], [data-tick-all]")) helper.hidden = false;
  for (const all of $$("[data-tick-all]:checked")) all.checked = !$("input[name=row]:not(:checked)", all.form);
}
showHelpers();
document.addEventListener("refreshed", showHelpers);
document.addEventListener("click", (event) => { if (event.target.closest("[data-print]")) print(); });
document.addEventListener("change", ({ target: all }) => {
  if (!("tickAll" in all.dataset)) return;
  for (const box of $$("input[name=row]", all.form)) box.checked = all.checked;
});

if ($("[data-print-now]")) print();

// A choice in the filter of a list sends the filter at once.
document.addEventListener("change", (event) => {
  if (event.target.matches("form[method=get] select")) submit(event.target.form);
});

// A click on a row follows its link, unless the click is on a link, a button or an input, or
// selects text.
document.addEventListener("click", (event) => {
  const row = event.target.closest("tr");
  if (row && !event.target.closest("a, button, input, label, summary") && getSelection().isCollapsed) $("a.row", row)?.click();
});

// An action that can't be undone asks first, in a dialog that says what will happen.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]"), asked = opener && $(opener.dataset.dialog);
  if (asked?.showModal) {
    event.preventDefault(); // it may be a link to the page with the same question
    asked.showModal();
  }
  const dialog = event.target.closest("[data-close]")?.closest("dialog");
  if (dialog) {
    event.preventDefault(); // it is a link, which the page with the same question needs
    dialog.close();
  }
});

// A button shows the password that is typed into a field. Before the form is sent the field
// becomes a password field again, so that the browser doesn't store the password as text.
for (const input of document.querySelectorAll("input[type=password]")) {
  const label = input.closest("label"), eye = document.createElement("button");
  eye.type = "button";
  eye.className = "plain eye";
  eye.textContent = document.body.dataset.show;
  eye.setAttribute("aria-label", eye.textContent + ": " + label?.textContent.trim());
  const show = (shown) => {
    input.type = shown ? "text" : "password";
    eye.setAttribute("aria-pressed", shown);
  };
  show(false);
  eye.addEventListener("click", () => show(input.type === "password"));
  document.addEventListener("submit", () => show(false), true);
  label?.after(eye);
}

// The page shows the user name of a person's name, as the server derives it.
for (const input of document.querySelectorAll("[data-called]")) {
  const out = document.getElementById(input.dataset.called);
  input.addEventListener("input", () => {
    const name = input.value.normalize("NFD").toLowerCase().replaceAll("đ", "d").replace(/[^a-z0-9._@-]/g, "");
    out.hidden = !name || name === input.value;
    out.textContent = out.dataset.text + " " + name;
  });
}
