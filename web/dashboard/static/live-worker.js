// All live pages of a browser share one event stream. A browser opens at most six connections
// to a server without HTTP/2: with a stream for each tab, none would be left for the pages.
"use strict";

const silence = 7_000; // milliseconds, less than in live.js; the server sends an event every 4 seconds
const ports = new Set();
let source, heardAt = 0, newest;

onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data === "close") {
      ports.delete(port);
      if (!ports.size) source?.close();
      return;
    }
    ports.add(port);
    if (source && source.readyState !== EventSource.CLOSED && Date.now() - heardAt < silence) {
      if (newest !== undefined) port.postMessage({ name: "changed", data: newest });
      return;
    }
    open(data);
  };
};

function open(address) {
  source?.close();
  const opened = source = new EventSource(address);
  heardAt = Date.now();
  newest = undefined;
  const post = (name, data) => {
    if (opened !== source) return;
    heardAt = Date.now();
    for (const port of ports) port.postMessage({ name, data });
  };
  opened.addEventListener("alive", () => post("alive"));
  opened.addEventListener("changed", (event) => { newest = event.data; post("changed", newest); });
  opened.addEventListener("ended", () => { opened.close(); post("ended"); });
  opened.addEventListener("error", () => { opened.close(); post("error"); });
}
