// Shows a note above a table while some of its columns are cut off.
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
