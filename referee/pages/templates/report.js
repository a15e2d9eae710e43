
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
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });

  // --- heads that sort

  const mark = (head, sorted, isDown) => {
    for (const cell of head.children) cell.removeAttribute("aria-sort");
    sorted.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  };
  const makeSortable = (head, sort) => {
    for (const cell of [...head.children]) {
      if (!cell.textContent) continue;
      const button = element("button", cell.textContent);
      button.type = "button";
      cell.replaceChildren(button);
      cell.addEventListener("click", () => {
        // What is looked for in most columns is the most of it.
        const isDown = cell.getAttribute("aria-sort") ? cell.getAttribute("aria-sort") === "ascending" : isNumeric(cell);
        mark(head, cell, isDown);
        sort([...head.children].indexOf(cell), isDown);
      });
    }
  };
  const isNumeric = (cell) => {
    const column = [...cell.parentNode.children].indexOf(cell);
    const first = cell.closest("table").tBodies[0].rows[0];
    return Boolean(first) && first.cells[column].dataset.v !== undefined && cell.textContent !== "#";
  };
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell.querySelector("time")?.dateTime ?? cell.textContent;
    return cell.dataset.v === undefined ? text : Number(cell.dataset.v);
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    makeSortable(table.tHead.rows[0], (column, isDown) => {
      const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, column), row]);
      rows.sort((one, other) => (isDown ? -1 : 1) * compare(one[0], other[0]));
      table.tBodies[0].append(...rows.map((row) => row[1]));
    });
  }

  // --- long lists, a page at a time

  const link = (href, text) => {
    const made = element("a", text);
    made.href = href;
    return made;
  };
  const linksOf = (match, printed = "") => {
    const cell = element("td");
    const name = encodeURIComponent(match[0]);
    if (match[9]) cell.append(link(`${data.replays}${name}.html`, "replay"), " ");
    cell.append(link(`${data.records}${name}.jsonl`, "record"));
    if (printed) cell.append(" ", link(data.records + encodeURIComponent(printed), "what it printed"));
    return cell;
  };
  const whoIs = (entrant) => link(`${data.entrants}${encodeURIComponent(data.pages[entrant])}.html`, data.names[entrant]);
  const headOf = (entrant) => {
    const cell = element("th");
    cell.append(whoIs(entrant));
    return cell;
  };
  const playersOf = (match) => {
    const cell = element("td", "", "free");
    match[3].forEach((entrant, seat) => {
      const isFoul = match[6].includes(seat);
      const name = isFoul ? "player foul" : match[4][seat] === 1 ? "player first" : "player";
      const player = element("span", "", name);
      player.append(whoIs(entrant), " ", element("small", isFoul ? "foul" : String(match[5][seat])));
      cell.append(player, " ");
    });
    return cell;
  };
  const wordsOf = (match) => [match[0], match[2], ...match[3].map((entrant) => data.names[entrant])].join(" ");
  const LISTS = {
    matches: {
      columns: ["match", "round", "players and points", "turns", ""],
      rows: data.matches,
      values: (match) => [match[0], match[1], data.names[match[3][0]], match[7]],
      words: wordsOf,
      cells: (match) => [
        element("td", match[8] ? `${match[0]} (void)` : match[0], match[8] ? "bad" : ""),
        element("td", match[2] ? `${match[1]}, ${match[2]}` : String(match[1])),
        playersOf(match),
        element("td", String(match[7]), "n"),
        linksOf(match),
      ],
    },
    fouls: {
      columns: ["entrant", "cause", "rule", "turn", "detail", "match", ""],
      rows: data.fouls,
      values: (foul) => [data.names[foul[1]], foul[2], foul[3], foul[4], foul[5], data.matches[foul[0]][0]],
      words: (foul) => [...foul.slice(2, 6), wordsOf(data.matches[foul[0]])].join(" "),
      cells: (foul) => [
        headOf(foul[1]),
        element("td", foul[2], "bad"),
        element("td", foul[3]),
        element("td", String(foul[4]), "n"),
        element("td", foul[5], "free"),
        element("td", data.matches[foul[0]][0]),
        linksOf(data.matches[foul[0]], foul[6]),
      ],
    },
  };

  const begin = (host) => {
    const list = LISTS[host.dataset.what];
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
      body.replaceChildren(...shown.map((row) => {
        const made = element("tr");
        made.append(...list.cells(row));
        [...made.cells].forEach((cell, at) => { cell.dataset.title = list.columns[at]; });
        return made;
      }));
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
    input.placeholder = `find in ${list.rows.length} ${host.dataset.what}`;
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
    makeSortable(head, (column, isDown) => {
      const keyed = rows.map((row) => [list.values(row)[column], row]);
      keyed.sort((one, other) => (isDown ? -1 : 1) * compare(one[0], other[0]));
      rows = keyed.map((one) => one[1]);
      show(0);
    });
    tools.append(input, back, forward, whole, count);
    const wide = element("div", "", "wide");
    wide.append(table);
    host.append(tools, wide);
    show(0);
  };
  for (const host of document.querySelectorAll("[data-what]")) begin(host);
})();
