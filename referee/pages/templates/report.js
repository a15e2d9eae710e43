
"use strict";
// Text of players reaches the page by textContent alone.
(() => {
  const PAGE = 50;
  const data = JSON.parse(document.getElementById("data").textContent);

  const element = (tag, text = "", className = "") => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  Sorting.tables(document);

  // --- curves: the arrow keys go from one to the next

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

  // --- long lists, a page at a time

  const link = (href, text) => {
    const made = element("a", text);
    made.href = href;
    return made;
  };
  const linksOf = (match) => {
    const cell = element("td");
    if (!match[12]) return cell;
    const name = encodeURIComponent(match[0]);
    if (match[9]) cell.append(link(`${data.replays}${name}.html`, "replay"), " ");
    cell.append(link(`${data.records}${name}.jsonl`, "record"));
    return cell;
  };
  const whoIs = (entrant) => link(`${data.entrants}${encodeURIComponent(data.pages[entrant])}.html`, data.names[entrant]);
  const playersOf = (match) => {
    const cell = element("td", "", "free");
    const named = new Set();
    data.results[match[11]].split(/\{(\d+)\}/).forEach((part, at) => {
      if (at % 2 === 0) return cell.append(part);
      const seat = Number(part);
      named.add(seat);
      const isFirst = match[4][seat] === 1 && match[4].some((place) => place > 1);
      const player = element("span", "", match[6].includes(seat) ? "player foul" : isFirst ? "player first" : "player");
      player.append(whoIs(match[3][seat]));
      cell.append(player);
    });
    cell.append(" ", element("small", [...named].map((seat) => match[5][seat]).join(" : ")));
    cell.append(...match[10].map(ruled));
    return cell;
  };
  const ruled = (number) => {
    const [decision, reason, by, at] = data.rulings[number - 1];
    const line = element("p", "", "ruled");
    const when = element("time", at);
    when.dateTime = at;
    const who = element("small", `${by}, `);
    who.append(when);
    line.append(element("b", decision), `: ${reason} `, who);
    return line;
  };
  const wordsOf = (match) => [match[0], match[2], ...match[3].map((entrant) => data.names[entrant])].join(" ");
  // A list knows its rows, and of each what it is sorted by, what words are found in it, and how it looks.
  const matches = () => ({
    columns: ["match", "round", "result and points", "turns", ""],
    rows: data.matches,
    value: (match, column) => [match[0], match[1], data.names[match[3][0]], match[7]][column],
    words: wordsOf,
    row: (match) => {
      const row = element("tr");
      row.append(
        element("td", match[8] ? `${match[0]} (does not count)` : match[0], match[8] ? "bad" : ""),
        element("td", match[2] ? `${match[1]}, ${match[2]}` : String(match[1])),
        playersOf(match),
        element("td", String(match[7]), "n"),
        linksOf(match),
      );
      return row;
    },
  });
  const standing = (table) => ({
    columns: [...table.tHead.rows[0].cells].map((cell) => cell.textContent),
    rows: [...table.tBodies[0].rows],
    value: (row, column) => Sorting.valueOf(row.cells[column]),
    words: (row) => row.textContent,
    row: (row) => row,
  });

  const begin = (host) => {
    const made = host.querySelector("table");
    const list = made ? standing(made) : matches();
    made?.parentNode.remove();
    let rows = list.rows;
    let first = 0;
    let size = PAGE;
    const table = element("table");
    const head = element("tr");
    const body = element("tbody");
    const tools = element("div", "", "tools");
    const input = element("input");
    const count = element("span", "", "faint");
    const button = (text, act) => {
      const made = element("button", text);
      made.type = "button";
      made.addEventListener("click", act);
      return made;
    };
    const show = (from) => {
      first = Math.max(0, Math.min(from, Math.floor((rows.length - 1) / size) * size));
      const shown = rows.slice(first, first + size);
      body.replaceChildren(...shown.map((item) => {
        const row = list.row(item);
        [...row.cells].forEach((cell, at) => { cell.dataset.title = list.columns[at]; });
        return row;
      }));
      localTimes(body);
      count.textContent = rows.length ? `${first + 1} to ${first + shown.length} of ${rows.length}` : "none";
      back.disabled = first === 0;
      forward.disabled = first + size >= rows.length;
      whole.disabled = rows.length <= size;
    };
    const back = button("back", () => show(first - size));
    const forward = button("on", () => show(first + size));
    const whole = button("all", () => {
      size = Math.max(rows.length, PAGE);
      show(0);
    });
    input.type = "search";
    input.placeholder = `find in ${host.dataset.what}`;
    input.setAttribute("aria-label", input.placeholder);
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows = list.rows.filter((row) => {
        const words = list.words(row).toLowerCase();
        return wanted.every((word) => words.includes(word));
      });
      for (const cell of head.children) cell.removeAttribute("aria-sort");
      show(0);
    });
    head.append(...list.columns.map((title) => {
      const made = element("th", title, title.startsWith("turn") ? "n" : "");
      made.title = data.columns[title] ?? "";
      return made;
    }));
    const thead = element("thead");
    thead.append(head);
    table.append(thead, body);
    const isNumeric = (cell) => list.rows.length > 0 && typeof list.value(list.rows[0], [...head.children].indexOf(cell)) === "number";
    Sorting.heads(head, (column, isDown) => {
      rows = Sorting.sorted(rows, (row) => list.value(row, column), isDown);
      show(0);
    }, isNumeric);
    tools.append(input, back, forward, whole, count);
    const wide = element("div", "", "wide");
    wide.append(table);
    host.append(tools, wide);
    show(0);
  };
  for (const host of document.querySelectorAll("[data-what]")) begin(host);
})();
