// The dashboard without this file is whole; with it, it is quicker: live rows
// say that they are, keys jump, secrets are copied with one click.
"use strict";

const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

// The menu of a narrow screen.
$("[data-menu]")?.addEventListener("click", (event) => {
  const open = document.body.classList.toggle("menu-open");
  event.currentTarget.setAttribute("aria-expanded", String(open));
});

// Live rows: show that the stream is open, drop the line that says there are
// none, keep the table as long as it was, and tell screen readers one line.
const rows = $("#rows[hx-sse\\:connect]");
if (rows) {
  const live = (on) => $$("[data-live]").forEach((e) => { e.hidden = !on; });
  const most = Math.max(rows.rows.length, 20);
  document.addEventListener("htmx:sse:after:connection", () => live(true));
  document.addEventListener("htmx:sse:error", () => live(false));
  document.addEventListener("htmx:sse:close", () => live(false));
  document.addEventListener("htmx:sse:after:message", () => {
    $(".empty", rows)?.remove();
    while (rows.rows.length > most) rows.deleteRow(-1);
    const say = $("[data-announce]");
    const first = rows.rows[0];
    if (say && first) say.textContent = first.cells[4].textContent.trim() + " " + first.cells[2].textContent.trim();
  });
}

// The server ends a stream whose visitor was signed out, and refuses one that
// was signed out while it was away: the page asks who it is.
document.addEventListener("ended", () => location.reload());
document.addEventListener("htmx:sse:error", (event) => { if (event.detail.status === 401) location.reload(); });

// Copy buttons: data-copy holds a selector or, with data-text, the text.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const from = $(button.dataset.copy);
  await navigator.clipboard.writeText(from ? from.textContent : button.dataset.text);
  const before = button.textContent;
  button.textContent = button.dataset.done || "✓";
  setTimeout(() => { button.textContent = before; }, 1500);
});

// Countdowns: data-until is an instant.
const countdowns = $$("[data-until]");
if (countdowns.length) setInterval(() => countdowns.forEach((e) => {
  const left = Math.max(0, Math.ceil((Date.parse(e.dataset.until) - Date.now()) / 1000));
  e.textContent = `(${e.dataset.left} ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")})`;
}), 1000);

// What can't be undone asks first, in a dialog that names what will happen.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog]");
  if (opener) {
    event.preventDefault(); // it may be a link to a page that asks the same
    $(opener.dataset.dialog)?.showModal();
  }
  const dialog = event.target.closest("[data-close]")?.closest("dialog");
  if (dialog) {
    event.preventDefault(); // it is a link, for the page that asks the same
    dialog.close();
  }
});

// Keys: / searches, g and a letter goes to a page.
const places = { o: "/", t: "/transactions", b: "/banks", w: "/webhooks", d: "/deliveries", s: "/inbound" };
let went = 0;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
  if (event.key === "/" && $("[data-search]")) {
    event.preventDefault();
    $("[data-search]").focus();
  } else if (event.key === "g") {
    went = event.timeStamp;
  } else if (event.timeStamp - went < 1000 && places[event.key] && $(`nav a[href="${places[event.key]}"]`)) {
    location.href = places[event.key];
  }
});
