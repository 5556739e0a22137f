// The fields of a form survive the end of a session: when a form is sent, they are kept in
// this tab, and if the visitor must sign in again, they are then filled in again. Hidden
// fields, passwords and files are never kept.
"use strict";

const draftKey = "draft", draftSize = 16_000, draftTime = 60 * 60 * 1000; // characters, milliseconds

function draftFields(form) {
  return [...form.elements].filter((e) => e.name && !e.closest("dialog") && !["hidden", "password", "file", "submit", "button", "fieldset"].includes(e.type));
}

document.addEventListener("submit", ({ target: form }) => {
  if (form.method !== "post" || document.body.classList.contains("outside")) return;
  const fields = draftFields(form).map((e) => [e.name, e.value, ["checkbox", "radio"].includes(e.type) ? e.checked : null]), action = form.getAttribute("action");
  const page = location.pathname === action ? null : location.pathname + location.search; // null: the page may be the answer to a form, so the server names the page of the form
  const draft = JSON.stringify({ page, action, user: $(".who .name")?.textContent, at: Date.now(), fields });
  sessionStorage.removeItem(draftKey);
  if (fields.length && draft.length <= draftSize) sessionStorage.setItem(draftKey, draft);
});

// The form of the sign-in page has a field if a form wasn't saved. Every other page removes the
// draft, and the page of the form fills it in if the visitor signed in between.
const draft = JSON.parse(sessionStorage.getItem(draftKey));
if (draft && $("[name=unsaved]")) {
  const back = $("[name=back]");
  back.value = draft.page ?? back.value;
  sessionStorage.setItem(draftKey, JSON.stringify({ ...draft, page: back.value, ended: true }));
} else if (draft && !document.body.classList.contains("outside")) {
  sessionStorage.removeItem(draftKey);
  const here = draft.ended && draft.page === location.pathname + location.search && draft.user === $(".who .name")?.textContent && Date.now() - draft.at < draftTime;
  const form = here && [...document.forms].find((f) => f.getAttribute("action") === draft.action);
  const left = form ? draftFields(form) : [];
  for (const [name, value, checked] of draft.fields) {
    const i = left.findIndex((e) => e.name === name && (checked === null || e.value === value));
    if (i < 0) continue;
    const [e] = left.splice(i, 1);
    if (checked === null) e.value = value;
    else e.checked = checked;
    e.closest("details")?.setAttribute("open", "");
    e.dispatchEvent(new Event("change", { bubbles: true }));
  }
}
