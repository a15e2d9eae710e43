"use strict";
// The page stands without this script; with it, what is marked as live is fetched anew when it has changed.
async function fetchAnew() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const anew = page.getElementById(part.id);
    if (!anew) continue;
    localTimes(anew);
    Sorting.tables(anew, Sorting.orders(part));
    part.replaceChildren(...anew.childNodes);
  }
}

let stream = null, known = null, due = null;
function fetchSoon() {
  due ??= setTimeout(() => { due = null; fetchAnew(); }, 500);
}

function follow() {
  // A tab that nobody sees asks for nothing; when it is seen again, the first event tells whether it is still true.
  if (document.hidden) { stream?.close(); stream = null; return; }
  if (stream) return;
  stream = new EventSource(document.querySelector("[data-live]").dataset.live);
  stream.onmessage = (event) => {
    if (known !== null && known !== event.data) fetchSoon();
    known = event.data;
  };
}

function takeDropped(form) {
  const [input, folder] = form.querySelectorAll("input[type=file]");
  form.addEventListener("change", () => folder.setCustomValidity(""));
  for (const name of ["dragover", "dragleave", "drop"]) {
    form.addEventListener(name, (event) => {
      event.preventDefault();
      form.classList.toggle("dropping", name === "dragover");
      if (name !== "drop" || !event.dataTransfer.files.length) return;
      // A browser hands over a dropped folder as a file that can't be read; the folder has an input of its own.
      const isFolder = event.dataTransfer.items[0]?.webkitGetAsEntry?.()?.isDirectory;
      folder.setCustomValidity(isFolder ? "Choose the folder here: one that is dropped can't be sent." : "");
      if (isFolder) return folder.reportValidity();
      input.files = event.dataTransfer.files;
    });
  }
}

Sorting.tables(document);
for (const form of document.querySelectorAll("form[enctype]")) takeDropped(form);
if (document.querySelector("[data-live]")) {
  document.addEventListener("visibilitychange", follow);
  follow();
}
