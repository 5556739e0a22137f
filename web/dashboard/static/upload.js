// A form with a file shows how much of the file was sent. Without this script the browser
// sends the form, and shows nothing until the answer comes.
"use strict";

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!("upload" in form.dataset) || event.defaultPrevented) return;
  event.preventDefault();
  const { upload, reading, failed } = form.dataset;
  const state = document.createElement("p"), words = document.createElement("span"), bar = document.createElement("progress");
  state.className = "upload";
  state.setAttribute("role", "status");
  state.append(words, bar);
  $(".upload", form)?.remove();
  form.append(state);
  bar.setAttribute("aria-label", upload);
  words.textContent = upload + "…";

  const request = new XMLHttpRequest();
  const button = event.submitter;
  const fail = () => {
    state.className = "upload problem";
    state.textContent = failed;
    button?.removeAttribute("aria-busy");
  };
  request.upload.onprogress = ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    if (loaded === total) {
      bar.removeAttribute("value"); // the server doesn't say how far it has read
      words.textContent = reading + "…";
    }
  };
  request.onerror = fail;
  request.onload = () => {
    if (new URL(request.responseURL).pathname !== location.pathname) {
      location.href = request.responseURL; // the session has ended
      return;
    }
    const page = $("#page", new DOMParser().parseFromString(request.responseText, "text/html"));
    if (!page) return fail();
    $("#page").replaceWith(page);
    scrollTo(0, 0);
    $("#main").focus();
  };
  request.open("POST", form.action);
  request.send(new FormData(form, button));
});
