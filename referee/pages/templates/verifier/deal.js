// Shows the deal of a match, computed from the seed and the nonces in its record, next to what the record says about it.
"use strict";
const dealAgain = (() => {
  const printable = (text) => text.replace(/\p{C}/gu, "�");
  const element = (tag, text = "", ...children) => {
    const made = Object.assign(document.createElement(tag), { textContent: text });
    made.append(...children);
    return made;
  };
  const table = (caption, head, rows) => {
    const line = (tag, cells) => element("tr", "", ...cells.map((text) => element(tag, text)));
    const made = element("table", "", element("caption", caption), element("thead", "", line("th", head)));
    made.append(element("tbody", "", ...rows.map((cells) => line("td", cells))));
    const wide = element("div", "", made);
    Object.assign(wide, { className: "wide dealt", tabIndex: 0, role: "region", ariaLabel: caption });
    return wide;
  };
  const spelled = (tiles) => tiles.join("  ") || "none";
  const record = ({ isSame, told, line }) => {
    const where = line === null ? "" : `, in line ${line}`;
    if (isSame) return `the same${where}${told === null ? ", by its digest" : ""}`;
    return `DIFFERENT${where}${told === null ? ", by its digest" : `: ${told}`}`;
  };

  const dealOf = ({ hands, table: laid, pile }, number, names, shown) => {
    const mine = shown.filter(({ deal }) => deal === number);
    const viewOf = (seat) => mine.find((row) => row.what === "view" && row.seat === seat);
    const handOf = (seat) => [`${seat} ${names[seat]}`, spelled(hands[seat]), viewOf(seat) ? record(viewOf(seat)) : "not shown"];
    const draws = mine.filter(({ what, isSame }) => what === "draws" || !isSame);
    const drawn = draws.map((row) => [`${row.seat} ${names[row.seat]}`, spelled(row.dealt), record(row)]);
    const parts = [table(`Hands of deal ${number}`, ["seat", "computed", "in the record"], names.map((_, seat) => handOf(seat)))];
    if (laid.length) parts.push(element("p", `On the table: ${spelled(laid)}`));
    if (drawn.length) parts.push(table(`Drawn in deal ${number}`, ["seat", "from the pile", "in the record"], drawn));
    if (pile.length) {
      const whole = element("details", "", element("summary", `The pile after the deal, ${pile.length}, beginning with the next tile`));
      whole.append(element("p", spelled(pile)));
      parts.push(whole);
    }
    return parts;
  };

  // Returns the elements that show a result of `verifyRecord`.
  return ({ deal, setup, findings }) => {
    const said = ({ line, message }) => `${line === null ? "" : `line ${line}: `}${message}`;
    if (!deal) return [element("p", `The deal was not verified, because the record does not hold: ${said(findings[0])}`)];
    const [difference] = deal.differences;
    if (!deal.deals.length) return [element("p", `The deal was not verified: ${difference ? said(difference) : `${deal.why}.`}`)];
    const verdict = difference ? `The first difference: ${said(difference)}` : "Equal: all tiles in the record follow from the seed and the nonces.";
    const elsewhere = findings.find((finding) => !deal.differences.includes(finding));
    const nonces = deal.nonces.map((nonce) => nonce ?? "none").join(", ");
    const from = deal.key ? `The seed ${deal.seed} and the nonces ${nonces} give the key ${deal.key}` : "This game has no chance: its rules fix the beginning";
    const names = setup.names.map(printable);
    const deals = deal.deals.flatMap((each, i) => dealOf(each, i + 1, names, deal.shown));
    const warning = elsewhere ? [element("p", `But another part of the record does not hold: ${said(elsewhere)}`)] : [];
    return [element("p", "", element("b", verdict)), ...warning, Object.assign(element("p", from), { className: "faint" }), ...deals];
  };
})();
