"use strict";
// The page stands without this script; with it, what is marked as live is fetched again when it has changed.
async function fetchAnew() {
  const page = await Following.ask(location.href);
  if (!page) return;
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh) continue;
    localTimes(fresh);
    Sorting.tables(fresh, Sorting.orders(part));
    part.replaceChildren(...fresh.childNodes);
  }
}

let known = null, due = null;
function fetchSoon() {
  due ??= setTimeout(() => { due = null; fetchAnew(); }, 500);
}

function take(data) {
  if (known !== null && known !== data) fetchSoon();
  known = data;
}

// A form is sent only once the host is there and its author signed in: else all that was written or chosen would be lost.
// Its token is that of the session of now, which another window may have begun.
async function sendSafely(event) {
  const { target: form, submitter } = event;
  event.preventDefault();
  const home = document.querySelector(".site-bar form a")?.href; // the link to the desk: only signed-in visitors have it
  const page = await Following.ask(home ?? form.action);
  if (page === null) return;
  const own = (root) => root?.querySelector("input[name=form_token]");
  if (home && own(page)) own(form).value = own(page).value;
  if (submitter?.name) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: submitter.name, value: submitter.value }));
  form.submit();
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
document.addEventListener("submit", sendSafely);
if (document.querySelector("[data-live]")) Following.follow(document.querySelector("[data-live]").dataset.live, take);
