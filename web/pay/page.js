"use strict";
// Keeps the page of a payment request up to date. The stream says what state the
// request is in; where it is another than that of the page, the page loads itself and
// puts the new content in place. Without the stream it looks every five seconds.
(() => {
  const main = () => document.getElementById("main");
  const offline = document.querySelector("[data-offline]");
  const live = document.body.dataset.live;
  let loading = false, stale = "", heard = Date.now();

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

  const load = async () => {
    if (loading) return;
    loading = true;
    try {
      const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(20_000) });
      if (!answer.ok) throw new Error(answer.status);
      const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
      if (next.dataset.state !== main().dataset.state) {
        main().replaceWith(next);
        showButtons();
      }
      heard = Date.now();
    } catch { /* the page says that it has no connection */ }
    loading = false;
    if (stale === main().dataset.state) stale = "";
  };

  let stream;
  const open = () => {
    stream = new EventSource(live);
    stream.addEventListener("state", (event) => {
      heard = Date.now();
      if (event.data !== main().dataset.state) {
        stale = event.data;
        load();
      }
    });
    stream.addEventListener("alive", () => { heard = Date.now(); });
  };
  open();

  setInterval(() => {
    const connected = stream.readyState === EventSource.OPEN && Date.now() - heard < 40_000;
    if (!connected || stale) load();
    if (stream.readyState === EventSource.CLOSED || Date.now() - heard > 40_000) {
      stream.close();
      open();
    }
    offline.hidden = Date.now() - heard < 10_000 || connected;
  }, 5000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) load(); });
})();
