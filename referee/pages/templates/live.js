"use strict";
// The page works without this script. The script keeps the tables up to date, and lets their clocks run.
const main = document.getElementById("tables");
const tables = new Map();
const sections = new Map();
const data = JSON.parse(document.getElementById("data").textContent);
// Seconds by which the server's clock is ahead of the browser's clock.
const ahead = data.now - Date.now() / 1000;

function element(tag, text = "", kind = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function seconds(ms) {
  return ms >= 60000 ? `${Math.floor(ms / 60000)} min ${Math.floor((ms % 60000) / 1000)} s` : `${(ms / 1000).toFixed(1)} s`;
}

function drawing(table) {
  if (table.board === null) return element("p", data.no_board, "faint");
  const end = table.board.indexOf("\n");
  const text = table.board.slice(0, end + 1) + table.symbols + table.board.slice(end);
  return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
}

function laid(table) {
  const section = element("section", "", "panel table");
  section.setAttribute("aria-label", `${table.tournament}, table ${table.table}`);
  const heading = element("h2", `${table.tournament} `);
  heading.append(element("span", `table ${table.table}`, "faint"));
  const parts = { section, facts: element("p", "", "faint facts"), seats: element("ul", "", "seats") };
  parts.board = element("div", "", "board");
  parts.lines = element("ol", "", "lines");
  parts.lines.setAttribute("aria-label", "Latest moves");
  parts.lines.tabIndex = 0;
  const proof = element("details", "", "faint head");
  parts.head = element("p");
  proof.append(element("summary", "Verify"), parts.head);
  section.append(heading, parts.facts, parts.seats, parts.board, parts.lines, proof);
  return parts;
}

function seatItem(table, seat) {
  const isOut = table.expelled.includes(seat);
  const isAsked = table.asked.includes(seat);
  const item = element("li", "", isOut ? "out" : isAsked ? "asked" : "");
  const clock = element("span", "", "clock");
  clock.dataset.seat = seat;
  const name = element("span", "", "name");
  const address = table.addresses[seat];
  name.append(address ? Object.assign(element("a", table.names[seat]), { href: address }) : table.names[seat]);
  item.append(name);
  item.append(element("span", isOut ? "expelled" : isAsked ? "to move" : "", "said"), clock);
  return item;
}

function lineItem(table, line) {
  const item = element("li", "", line.is_expulsion ? "bad" : "");
  item.value = line.turn;
  if (line.seat !== null) item.append(element("b", table.names[line.seat]), " ");
  item.append(line.text);
  return item;
}

function show(key) {
  const table = tables.get(key);
  const parts = sections.get(key);
  parts.section.id = table.match;
  parts.facts.textContent = `${table.match} · round ${table.round} · ${table.is_over ? `over: ${table.result}` : `turn ${table.turn}`}`;
  parts.seats.replaceChildren(...table.names.map((_, seat) => seatItem(table, seat)));
  if (parts.shown !== table.board || table.board === null) parts.board.replaceChildren(drawing(table));
  parts.shown = table.board;
  parts.lines.replaceChildren(...table.lines.toReversed().map((line) => lineItem(table, line)));
  parts.head.parentElement.hidden = table.head === null;
  parts.head.textContent = table.head === null ? "" : `made from the record up to line ${table.line}, head ${table.head}`;
  tick(key);
}

function tick(key) {
  const table = tables.get(key);
  const now = Date.now() / 1000 + ahead;
  for (const clock of sections.get(key).seats.querySelectorAll(".clock")) {
    const seat = Number(clock.dataset.seat);
    const running = table.asked.includes(seat) && table.asked_at !== null ? Math.max(now - table.asked_at, 0) * 1000 : 0;
    const bank = table.bank_ms[seat];
    if (bank !== null && bank !== undefined) clock.textContent = `${seconds(Math.max(bank - running, 0))} left`;
    else if (running) clock.textContent = `${seconds(Math.min(running, table.limit_ms))} of ${seconds(table.limit_ms)}`;
    else clock.textContent = table.used_ms === null ? "" : `${seconds(table.used_ms[seat] ?? 0)} used`;
  }
}

function take(news) {
  for (const table of news.tables) {
    const key = `${table.tournament}/${table.table}`;
    if (table.symbols === null) table.symbols = tables.get(key)?.symbols ?? "";
    tables.set(key, table);
  }
  if (news.is_whole) {
    const keys = news.tables.map((table) => `${table.tournament}/${table.table}`);
    for (const key of [...tables.keys()]) if (!keys.includes(key)) { tables.delete(key); sections.delete(key); }
    for (const key of keys) if (!sections.has(key)) sections.set(key, laid(tables.get(key)));
    const shown = keys.map((key) => sections.get(key).section);
    main.replaceChildren(...(shown.length ? shown : [element("p", "No match is open now.", "panel")]));
  }
  for (const table of news.tables) show(`${table.tournament}/${table.table}`);
}

setInterval(() => { if (!document.hidden) for (const key of tables.keys()) tick(key); }, 200);
Following.follow("api/live/events", (data) => take(JSON.parse(data)));
