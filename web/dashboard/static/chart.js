// The chart read out: a day under the pointer or the finger, or chosen with the
// keys, is written below the chart.
"use strict";

let chosenDay = -1;
function readDay(index) {
  const days = $$("[data-plot] g");
  if (!days[index]) return;
  chosenDay = index;
  for (const [i, day] of days.entries()) day.classList.toggle("here", i === index);
  $("[data-readout]").textContent = $("title", days[index]).textContent;
}

for (const name of ["pointerover", "pointerdown"]) {
  document.addEventListener(name, (event) => {
    const day = event.target.closest?.("[data-plot] g");
    if (day) readDay($$("[data-plot] g").indexOf(day));
  });
}

document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || !event.target.matches("[data-plot]")) return;
  event.preventDefault();
  readDay(chosenDay < 0 ? $$("[data-plot] g").length - 1 : chosenDay + step);
});

document.addEventListener("refreshed", () => readDay(chosenDay));
