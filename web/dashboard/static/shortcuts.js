// Keys: / searches, g and a letter opens a page, j and k move through the rows, and ? shows
// all keys. There, users of voice control can switch the keys off.
"use strict";

const places = { o: "/", t: "/transactions", b: "/banks", w: "/webhooks", d: "/deliveries", s: "/inbound" };
const shortcuts = $("#shortcuts");
const wanted = $("[data-shortcuts]");

for (const button of $$('[data-dialog="#shortcuts"]')) button.hidden = !shortcuts.showModal;
wanted.checked = localStorage.getItem("shortcuts") !== "off";
wanted.addEventListener("change", () => localStorage.setItem("shortcuts", wanted.checked ? "on" : "off"));

// step focuses the link of the next row, or of the previous row.
function step(by) {
  const links = $$("main tbody tr:not(.day)").map((row) => $("a.row", row) ?? $("a", row)).filter(Boolean);
  const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  links[at < 0 ? 0 : at + by]?.focus();
}

let went = 0;
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, dialog");
  if (!wanted.checked || event.ctrlKey || event.metaKey || event.altKey || typing?.getClientRects().length) return;
  const jumps = event.timeStamp - went < 1000;
  if (jumps && places[event.key] && $(`nav a[href="${places[event.key]}"]`)) {
    location.href = places[event.key];
  } else if (event.key === "/" && $("[data-search]")) {
    event.preventDefault();
    $("[data-search]").focus();
  } else if (event.key === "?") {
    event.preventDefault();
    shortcuts.showModal?.();
  } else if (event.key === "g") {
    went = event.timeStamp;
  } else if (event.key === "j") {
    step(1);
  } else if (event.key === "k") {
    step(-1);
  }
});
