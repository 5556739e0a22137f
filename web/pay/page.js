"use strict";
// This script keeps the page of a payment request up to date. The event stream sends the state
// of the request; if it differs from the state of the page, the page requests itself and
// replaces its content. Without the stream it does that every four seconds. After 12 seconds
// without an answer or event it says that it has no connection.
(() => {
  const main = () => document.getElementById("main");
  const offline = document.querySelector("[data-offline]");
  const live = document.body.dataset.live;
  let loading = false, stale = "", heard = Date.now();
  const showConnection = (lost) => {
    offline.hidden = !lost;
    document.body.classList.toggle("lost", lost);
  };
  const hear = () => {
    heard = Date.now();
    showConnection(false);
  };

  const showButtons = () => {
    if (!navigator.clipboard) return;
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
  };
  showButtons();

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(button.dataset.copy);
    const show = (copied) => {
      button.querySelector("[data-off]").hidden = copied;
      button.querySelector("[data-on]").hidden = !copied;
    };
    show(true);
    clearTimeout(button.timer);
    button.timer = setTimeout(show, 1500, false);
  });

  // before is the signal that ends a request after a time in milliseconds. Browsers of 2021
  // have no AbortSignal.timeout.
  const before = (time) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), time);
    return controller.signal;
  };

  const load = async () => {
    if (loading) return;
    loading = true;
    try {
      const answer = await fetch(location.href, { cache: "no-store", signal: before(8_000) });
      if (!answer.ok || !answer.headers.has("X-Request-Id")) throw new Error(answer.status); // an answer without it is of a proxy
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
      if (next.dataset.state !== main().dataset.state) {
        main().replaceWith(next);
        showButtons();
      }
      hear();
    } catch {
      showConnection(true);
    }
    loading = false;
    if (stale === main().dataset.state) stale = "";
  };

  let stream;
  const open = () => {
    stream = new EventSource(live);
    stream.addEventListener("state", (event) => {
      hear();
      if (event.data !== main().dataset.state) {
        stale = event.data;
        load();
      }
    });
    stream.addEventListener("alive", hear);
  };
  open();

  setInterval(() => {
    const silent = Date.now() - heard > 12_000;
    if (silent) showConnection(true);
    if (silent || stale || stream.readyState !== EventSource.OPEN) load();
    if (silent || stream.readyState === EventSource.CLOSED) {
      stream.close();
      open();
    }
  }, 4000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) load(); });
})();
