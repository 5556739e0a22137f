// The service worker shows the messages that the server pushes, and opens their pages. It keeps
// no pages.
"use strict";

self.addEventListener("push", (event) => {
  const { title, body, path, tag } = event.data.json();
  event.waitUntil(self.registration.showNotification(title, { body, tag, renotify: Boolean(tag), data: path, icon: "/static/icon-192.png" }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil((async () => {
    const url = new URL(event.notification.data, location.origin).href;
    const open = (await clients.matchAll({ type: "window", includeUncontrolled: true })).find((window) => window.url === url);
    return open ? open.focus() : clients.openWindow(url);
  })());
});
