// The customer's screen shows what the server sends.
"use strict";

follow("/live/till/display", { display: (event) => { $("[data-display]").innerHTML = event.data; } });

let lock;
async function stayAwake() {
  if (document.hidden || lock && !lock.released) return;
  try { lock = await navigator.wakeLock?.request("screen"); } catch { /* the battery is low */ }
}
stayAwake();
document.addEventListener("visibilitychange", stayAwake);
