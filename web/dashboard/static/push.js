// Web Push: the browser asks its user, and subscribes at the push service of its maker. The
// form with data-push has the key of the server; the address of the subscription is sent with
// the form. Without Web Push the form stays hidden and the page says why.
"use strict";

{
  const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const able = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

  const show = () => {
    for (const e of $$(able ? "form[data-push]" : "[data-no-push]")) e.hidden = false;
  };
  show();
  document.addEventListener("refreshed", show);

  const subscribe = async (key) => {
    await navigator.serviceWorker.register("/sw.js");
    const { pushManager } = await navigator.serviceWorker.ready;
    const options = { userVisibleOnly: true, applicationServerKey: decode(key) };
    try {
      return await pushManager.subscribe(options);
    } catch (error) {
      const other = await pushManager.getSubscription(); // made with another key of the server
      if (!other) throw error;
      await other.unsubscribe();
      return pushManager.subscribe(options);
    }
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!("push" in form.dataset) || form.elements.endpoint.value) return;
    event.preventDefault();
    const problem = $("[data-problem]", form);
    problem.hidden = true;
    let said = form.dataset.failed;
    try {
      if (await Notification.requestPermission() === "granted") {
        const { endpoint, keys } = (await subscribe(form.dataset.push)).toJSON();
        form.elements.p256dh.value = keys.p256dh;
        form.elements.auth.value = keys.auth;
        form.elements.endpoint.value = endpoint;
        submit(form, event.submitter);
        return;
      }
      said = form.dataset.refused;
    } catch (error) {
      console.error(error);
    }
    problem.textContent = said;
    problem.hidden = false;
    event.submitter?.removeAttribute("aria-busy");
  });
}
