
"use strict";
(() => {
  Sorting.tables(document);

  // --- curves: the arrow keys go from one curve to the next

  for (const drawing of document.querySelectorAll(".chart svg")) {
    const curves = [...drawing.querySelectorAll(".curve")].reverse();
    const choose = (chosen) => curves.forEach((curve, at) => curve.setAttribute("tabindex", at === chosen ? 0 : -1));
    curves.forEach((curve, at) => curve.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const next = (at + by + curves.length) % curves.length;
      choose(next);
      curves[next].focus();
    }));
    choose(0);
  }
})();
