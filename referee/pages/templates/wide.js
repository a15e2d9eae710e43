// A table whose columns are cut says so above it, for as long as they are.
for (const box of document.querySelectorAll(".wide, .tall, main table")) {
  const note = document.createElement("p");
  note.className = "faint cut";
  note.textContent = "More columns: scroll sideways →";
  note.hidden = true;
  box.before(note);
  new ResizeObserver(() => {
    const isScrolled = getComputedStyle(box).overflowX === "auto";
    note.hidden = !isScrolled || box.scrollWidth <= box.clientWidth + 1;
  }).observe(box);
}
