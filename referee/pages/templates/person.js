"use strict";
// Shows what the referee sends, and sends back what the person touches. It does not know which moves are legal.
(() => {
  const at = (id) => document.getElementById(id);
  const title = document.title;
  const body = new URLSearchParams({ form_token: document.querySelector("main").dataset.formToken });
  let shown = { version: 0 };
  let until = 0;
  let byPointer = false;

  function button(text, isPlaced) {
    const made = document.createElement("button");
    made.textContent = text;
    made.className = isPlaced ? "placed" : "word";
    made.addEventListener("click", () => send("touch", text));
    return made;
  }

  async function send(what, option = "") {
    const query = new URLSearchParams({ turn: shown.turn, at: shown.touched.length, option });
    try {
      const answer = await fetch(`${what}?${query}`, { method: "POST", body });
      if (answer.ok) return show(await answer.json());
    } catch {
      // no server answers; the notice comes from Following.ask below
    }
    // The person may have signed in again, in another window.
    const page = await Following.ask(location.href);
    const token = page?.querySelector("main")?.dataset.formToken;
    if (!token || token === body.get("form_token")) return;
    body.set("form_token", token);
    send(what, option);
  }

  function drawBoard(svg) {
    if (!svg || svg === shown.svg) return;
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    parsed.setAttribute("role", "group"); // it is not an image: its places are buttons
    at("board").replaceChildren(document.importNode(parsed, true));
  }

  function markPlaces(state) {
    const places = new Map();
    for (const place of document.querySelectorAll("[data-place]")) {
      const name = place.dataset.place;
      place.classList.remove("can", "has");
      for (const attribute of ["tabindex", "role", "aria-label"]) place.removeAttribute(attribute);
      if (state.options.includes(name)) {
        place.classList.add("can");
        place.setAttribute("tabindex", "0");
        place.setAttribute("role", "button");
        place.setAttribute("aria-label", name);
        places.set(name, place);
      } else if (state.touched.includes(name)) {
        place.classList.add("has");
      }
    }
    return places;
  }

  function status(state) {
    if (state.over || state.still) return state.over || state.still;
    if (!state.asked) return state.waiting ? `${state.waiting} is to move` : "Waiting for the others";
    if (!state.touched.length) return "Your move: choose a highlighted place";
    const chosen = state.touched.join(" · ");
    return state.ready ? `Chosen: ${chosen}. Hand it in${state.options.length ? ", or choose more" : ""}?` : `Chosen: ${chosen}. Choose more`;
  }

  function focusNext(state, places, before) {
    if (byPointer || !state.asked) return;
    const target = places.get(before) ?? (state.ready ? at("hand-in") : places.values().next().value ?? at("choices").firstChild);
    target?.focus({ preventScroll: true });
  }

  function show(state) {
    if (state.version <= shown.version) return;
    const before = document.activeElement?.dataset?.place;
    drawBoard(state.svg);
    shown = state;
    until = performance.now() + state.left_ms;
    const places = markPlaces(state);
    at("players").textContent = `At the table: ${state.names.join(", ")}.`;
    at("status").textContent = status(state);
    at("choices").replaceChildren(...state.options.map((option) => button(option, places.has(option))));
    at("hand-in").disabled = !state.ready;
    at("undo").disabled = !state.touched.length;
    at("said").replaceChildren(...state.said.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
    at("said").scrollTop = at("said").scrollHeight;
    document.body.classList.toggle("asked", state.asked);
    document.body.classList.toggle("over", state.over !== "");
    document.body.dataset.version = state.version;
    document.title = state.asked ? `● ${title}: your move` : title;
    tick();
    focusNext(state, places, before);
  }

  function tick() {
    const left = Math.max(0, Math.ceil((until - performance.now()) / 1000));
    const text = shown.asked ? `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` : "";
    if (at("clock").textContent !== text) at("clock").textContent = text;
    at("clock").classList.toggle("late", left <= 20);
  }

  // Returns the nearest highlighted place in the direction of an arrow; the distance to the side counts double.
  function neighbour(from, [right, down]) {
    const middle = (place) => {
      const box = place.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const [x, y] = middle(from);
    let best = null;
    let least = Infinity;
    for (const place of document.querySelectorAll(".place.can")) {
      const [otherX, otherY] = middle(place);
      const ahead = (otherX - x) * right + (otherY - y) * down;
      const aside = Math.abs((otherX - x) * down) + Math.abs((otherY - y) * right);
      if (ahead > 1 && ahead + 2 * aside < least) [best, least] = [place, ahead + 2 * aside];
    }
    return best;
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  at("board").addEventListener("click", (event) => {
    const place = event.target.closest("[data-place]");
    if (place && shown.asked) send("touch", place.dataset.place);
  });
  document.addEventListener("pointerdown", () => { byPointer = true; });
  document.addEventListener("keydown", (event) => {
    byPointer = false;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const place = document.activeElement?.closest?.(".place.can");
    if (ARROWS[event.key]) {
      const from = place ?? document.querySelector(".place.can");
      const next = place ? neighbour(from, ARROWS[event.key]) : from;
      if (!from) return;
      next?.focus({ preventScroll: true });
      event.preventDefault();
    } else if (place && (event.key === "Enter" || event.key === " ")) {
      send("touch", place.dataset.place);
      event.preventDefault();
    } else if (event.key === "u" || event.key === "U" || event.key === "Backspace" || event.key === "Escape") {
      send("undo");
      event.preventDefault();
    }
  });
  at("hand-in").addEventListener("click", () => send("hand-in"));
  at("undo").addEventListener("click", () => send("undo"));
  setInterval(tick, 250);

  Following.follow("events", (data) => show(JSON.parse(data)), { isKept: true, isOver: () => shown.closed });
})();
