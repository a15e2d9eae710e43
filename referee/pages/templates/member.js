"use strict";
// The page works without this script. The script fetches the parts marked as live again when they have changed.
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

// Send a form only when the server answers and the user is signed in. Otherwise the user's text and files would be lost.
// The form gets the token of the present session, which may have begun in another window.
async function sendSafely(event) {
  const { target: form, submitter } = event;
  event.preventDefault();
  const home = document.querySelector(".site-bar form a")?.href; // the link to the desk: only signed-in visitors have it
  const page = await Following.ask(home ?? form.action);
  if (page === null) return;
  const own = (root) => root?.querySelector("input[name=form_token]");
  if (home && own(page)) own(form).value = own(page).value;
  if (submitter?.name) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: submitter.name, value: submitter.value }));
  if (droppedFiles.has(form)) return sendDropped(form, droppedFiles.get(form));
  form.submit();
}

// Adds the files of an entry of the file system to a list, each with its path.
async function listFiles(entry, files) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    files.push([entry.fullPath.replace(/^\//, ""), file]);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const each of some) await listFiles(each, files);
  }
}

// A file input can't hold a dropped folder, so its files are stored here until the form is sent.
const droppedFiles = new WeakMap();

function takeDropped(form) {
  const [input, folder] = form.querySelectorAll("input[type=file]");
  const status = form.querySelector(".dropped");
  form.querySelector(".with-script").hidden = false;
  form.addEventListener("change", () => {
    droppedFiles.delete(form);
    status.textContent = "";
  });
  for (const name of ["dragover", "dragleave", "drop"]) {
    form.addEventListener(name, async (event) => {
      event.preventDefault();
      form.classList.toggle("dropping", name === "dragover");
      if (name !== "drop" || !event.dataTransfer.files.length) return;
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
      droppedFiles.delete(form);
      input.value = folder.value = status.textContent = "";
      if (!entries.some((entry) => entry.isDirectory)) {
        input.files = event.dataTransfer.files;
        return;
      }
      const files = [];
      try {
        for (const entry of entries) await listFiles(entry, files);
      } catch {
        status.textContent = "The folder can't be read. Choose it with the button instead.";
        return;
      }
      droppedFiles.set(form, files);
      status.textContent = `${entries.map((entry) => entry.name).join(", ")}: ${files.length} ${files.length === 1 ? "file" : "files"}. Press the button to hand in`;
    });
  }
}

// Sends a form with the files of a dropped folder, and shows the answer.
async function sendDropped(form, files) {
  const data = new FormData(form);
  for (const name of ["archive", "folder"]) data.delete(name);
  for (const [path, file] of files) data.append("folder", file, path);
  const answer = await fetch(form.action, { method: "POST", body: data }).catch(() => null);
  if (answer?.redirected) return location.assign(answer.url);
  const page = answer && new DOMParser().parseFromString(await answer.text(), "text/html");
  const trouble = page?.querySelector(".trouble");
  form.querySelector(".dropped").textContent = trouble?.textContent ?? "The folder could not be sent. Try again.";
}

// Offers only the house players that can play by the chosen rules.
function offerHouses(rules) {
  const opponent = document.getElementById("opponent");
  const houses = rules.selectedOptions[0].dataset.houses.split(" ");
  for (const option of opponent.querySelectorAll("[value^='house:']")) option.hidden = option.disabled = !houses.includes(option.value.slice(6));
  if (opponent.selectedOptions[0]?.disabled) opponent.value = opponent.querySelector("option:enabled")?.value ?? "";
}

Sorting.tables(document);
const rules = document.querySelector("#tournament:has([data-houses])");
if (rules) {
  rules.addEventListener("change", () => offerHouses(rules));
  offerHouses(rules);
}
for (const form of document.querySelectorAll("form[enctype]")) takeDropped(form);
document.addEventListener("submit", sendSafely);
if (document.querySelector("[data-live]")) Following.follow(document.querySelector("[data-live]").dataset.live, take);
