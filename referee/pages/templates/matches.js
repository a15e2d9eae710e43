
"use strict";
// A contest's site answers a query with the matches that fit. In a folder or an archive there is no server; there, this
// script filters the page's own data. Texts from players reach the page only through textContent.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const query = Object.fromEntries(new URLSearchParams(location.search));
  if (!data.matches || !location.search) return;
  const [MATCH, ROUND, GROUP, ENTRANTS, PLACES, SCORES, CAUSES, VERSIONS, TURNS, OUTCOME, COUNTS, HAS_PAGE, HAS_RECORD, RULINGS] = Array(14).keys();

  const element = (tag, text = "", attributes = {}) => {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) if (value) made.setAttribute(name, value);
    return made;
  };

  // --- the matches that fit

  const resultOf = (match, seat) => {
    if (!match[COUNTS]) return "uncounted";
    if (Math.max(...match[PLACES]) === 1) return "drawn";
    return match[PLACES][seat] === 1 ? "won" : "lost";
  };
  const asked = [query.entrant, query.opponent].filter(Boolean).map((name) => data.names.indexOf(name));
  const fits = (match) => {
    if (!asked.every((entrant) => match[ENTRANTS].includes(entrant))) return false;
    const seats = query.entrant ? [match[ENTRANTS].indexOf(asked[0])] : [...match[ENTRANTS].keys()];
    const isFoul = (seat) => match[CAUSES][seat] && (query.foul === "any" || query.foul === match[CAUSES][seat]);
    return (
      (!query.result || seats.some((seat) => query.result === resultOf(match, seat))) &&
      (!query.foul || seats.some(isFoul)) &&
      (!query.version || seats.some((seat) => query.version === String(match[VERSIONS][seat] ?? 1)))
    );
  };

  // --- a row

  const playersOf = (match) => {
    const cell = element("td", "", { class: "free" });
    const named = new Set();
    data.sentences[match[OUTCOME]].split(/[{}]/).forEach((part, at) => {
      if (at % 2 === 0) return cell.append(part);
      const isFirst = match[PLACES][part] === 1 && Math.max(...match[PLACES]) > 1;
      const player = element("span", "", { class: match[CAUSES][part] ? "player foul" : isFirst ? "player first" : "player" });
      const entrant = match[ENTRANTS][part];
      player.append(element("a", data.names[entrant], { href: `${data.entrants}${data.pages[entrant]}.html` }));
      if (match[VERSIONS][part]) player.append(" ", element("small", `version ${match[VERSIONS][part]}`));
      cell.append(player);
      named.add(part);
    });
    cell.append(" ", element("small", [...named].map((seat) => match[SCORES][seat]).join(" : ")));
    for (const [decision, reason, by, at] of match[RULINGS].map((number) => data.rulings[number - 1])) {
      const who = element("small", `${by}, `);
      who.append(element("time", at, { datetime: at }));
      const line = element("p", "", { class: "ruled" });
      line.append(element("b", decision), `: ${reason} `, who);
      cell.append(line);
    }
    return cell;
  };
  const rowOf = (match) => {
    const links = element("td");
    const name = encodeURIComponent(match[MATCH]);
    if (match[HAS_PAGE]) links.append(element("a", "replay", { href: `${data.replays}${name}.html` }), " ");
    if (match[HAS_RECORD]) links.append(element("a", "record", { href: `${data.records}${name}.jsonl` }));
    const row = element("tr");
    row.append(
      element("td", match[COUNTS] ? match[MATCH] : `${match[MATCH]} (does not count)`, { class: match[COUNTS] ? "" : "bad" }),
      element("td", match[GROUP] ? `${match[ROUND]}, ${match[GROUP]}` : String(match[ROUND])),
      playersOf(match),
      element("td", String(match[TURNS]), { class: "n", "data-title": "turns" }),
      links,
    );
    return row;
  };

  // --- a page of matches

  for (const [name, value] of Object.entries(query)) {
    const field = document.forms[0].elements[name];
    if (field) field.value = value;
  }
  const fitting = data.matches.filter(fits);
  const pages = Math.max(Math.ceil(fitting.length / data.size), 1);
  const page = Math.min(Math.max(Number(query.page) || 1, 1), pages);
  const first = (page - 1) * data.size;
  const rows = fitting.slice(first, first + data.size).map(rowOf);
  document.querySelector("#match-list tbody").replaceChildren(...rows);
  localTimes(document.querySelector("#match-list"));
  document.getElementById("count").textContent =
    rows.length ? `${first + 1} to ${first + rows.length} of ${fitting.length}, newest first` : "no match fits";
  const way = (text, to) => element("a", text, { href: `?${new URLSearchParams({ ...query, page: to })}` });
  document.getElementById("pages").replaceChildren(
    ...(page > 1 ? [way("newer", page - 1), " "] : []),
    ...(page < pages ? [way("older", page + 1)] : []),
  );
})();
