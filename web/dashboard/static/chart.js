// The figures of one day are written below the chart: of the day under the pointer or the
// finger, or of the day that was chosen with the keys.
"use strict";

let chosenDay = -1;
function readDay(index) {
  const days = $$("[data-plot] g");
  if (!days[index]) return;
  chosenDay = index;
  for (const [i, day] of days.entries()) day.classList.toggle("here", i === index);
  $("[data-readout]").textContent = $("title", days[index]).textContent;
}

// A finger that slides over the chart reaches also days that are narrower than the finger.
for (const name of ["pointermove", "pointerdown"]) {
  document.addEventListener(name, (event) => {
    const plot = event.target.closest?.("[data-plot]"), box = plot?.getBoundingClientRect();
    if (plot) readDay(Math.floor((event.clientX - box.left) / box.width * $$("g", plot).length));
  });
}

document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || !event.target.matches("[data-plot]")) return;
  event.preventDefault();
  readDay(chosenDay < 0 ? $$("[data-plot] g").length - 1 : chosenDay + step);
});

document.addEventListener("refreshed", () => readDay(chosenDay));
