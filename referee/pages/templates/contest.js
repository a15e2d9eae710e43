"use strict";
// The page works without this script. The script keeps it up to date while it is open.
const shown = new Map();
for (const section of document.querySelectorAll("section[id^=tournament-]")) {
  const parts = {};
  for (const part of section.querySelectorAll("[data-show]")) parts[part.dataset.show] = part;
  shown.set(section.id.slice("tournament-".length), { heading: section.querySelector("h2"), parts });
}

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function linked(text, address) {
  return address ? element("a", text, { href: address }) : document.createTextNode(text);
}

function players(match) {
  const cell = element("td", "");
  match.names.forEach((name, seat) => cell.append(seat ? " – " : "", linked(name, match.addresses[seat])));
  return cell;
}

function openRow(match) {
  const row = document.createElement("tr");
  const since = element("td", `round ${match.round}, since `);
  since.append(element("time", match.opened, { datetime: match.opened }));
  const name = element("th", "", { scope: "row" });
  name.append(linked(match.match, `live#${match.match}`));
  row.append(name, players(match), since);
  return row;
}

function lastRow(match) {
  const row = document.createElement("tr");
  const name = element("th", "", { scope: "row" });
  name.append(linked(match.match, match.address));
  row.append(name, element("td", match.result));
  return row;
}

function showRows(part, rows) {
  part.replaceChildren(...rows);
  part.closest("table").hidden = !rows.length;
}

function leaderItem(leader) {
  const item = element("li", "", { value: leader.place });
  item.append(linked(leader.name, leader.address), " ", element("b", leader.rating ?? leader.points));
  if (leader.rating) item.append(element("span", ` ladder rating; points: ${leader.points}`, { class: "faint" }));
  return item;
}

function comingRow(match) {
  const row = document.createElement("tr");
  row.append(
    element("th", match.table ? `round ${match.round}, ${match.table}` : `round ${match.round}`, { scope: "row" }),
    players(match),
  );
  return row;
}

function showComing(part, coming) {
  part.hidden = !coming;
  if (!coming) return;
  const when = part.querySelector("span");
  when.textContent = `${coming.why} `;
  if (coming.at) when.append(element("time", coming.at, { datetime: coming.at }));
  const rows = coming.matches.map(comingRow);
  if (coming.left_out) {
    const row = document.createElement("tr");
    row.append(element("td", `and ${coming.left_out} more`));
    rows.push(row);
  }
  part.querySelector("tbody").replaceChildren(...rows);
  localTimes(part);
}

const announced = document.querySelectorAll("#announcements li").length;

function show(card) {
  if (card.announcements.length !== announced) return location.reload();
  for (const tournament of card.tournaments) {
    const place = shown.get(tournament.name);
    const isReported = tournament.reported !== null;
    if (!place || (isReported && !place.heading.querySelector("a"))) return location.reload();
    const verifier = place.parts.head.querySelector("a")?.getAttribute("href") ?? null;
    if (verifier !== tournament.verifier) return location.reload();
    place.parts.state.textContent = tournament.state.replace(/^is /, "");
    place.parts.played.textContent = tournament.played;
    place.parts.behind.hidden = !tournament.leaders.length || tournament.reported >= tournament.played;
    place.parts.behind.querySelector("span").textContent = tournament.reported;
    place.parts.leaders.replaceChildren(...tournament.leaders.map(leaderItem));
    place.parts.head.hidden = !tournament.head;
    place.parts.head.querySelector("code").textContent = tournament.head ?? "";
    showRows(place.parts.last, tournament.last.map(lastRow));
    showRows(place.parts.open, tournament.open_matches.map(openRow));
    localTimes(place.parts.open);
    showComing(place.parts.coming, tournament.coming);
  }
}

const { is_still: isStill } = JSON.parse(document.getElementById("data").textContent);
if (shown.size && !isStill) Following.follow("api/events", (data) => show(JSON.parse(data)));
