// Makes the heads of tables sort. They become buttons, so that the keyboard can use them. Without this script, tables keep their order.
const Sorting = (() => {
  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return typeof one === "number" && typeof other === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
  };
  // Empty values come last in either direction.
  const sorted = (items, value, isDown) => {
    const keyed = items.map((item) => [value(item), item]);
    keyed.sort(([one], [other]) => (isDown && one !== null && other !== null ? -1 : 1) * compare(one, other));
    return keyed.map(([, item]) => item);
  };
  const valueOf = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const time = cell.querySelector("time");
    const text = time ? time.dateTime : cell.textContent.trim();
    return /^-?\d+(\.\d+)?( |$)/.test(text) ? parseFloat(text) : text || null;
  };
  const columnOf = (cell) => [...cell.parentNode.children].indexOf(cell);
  const order = (cell, isDown, sort) => {
    for (const other of cell.parentNode.children) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    sort(columnOf(cell), isDown);
  };

  // `first` returns whether the first click on a head sorts its column in descending order.
  const heads = (row, sort, first) => {
    for (const cell of row.children) {
      if (!cell.textContent.trim()) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      cell.replaceChildren(button);
      cell.addEventListener("click", () => order(cell, cell.hasAttribute("aria-sort") ? cell.getAttribute("aria-sort") === "ascending" : first(cell), sort));
    }
  };
  const sorts = (table) => (column, isDown) => {
    const body = table.tBodies[0];
    body.append(...sorted([...body.rows], (row) => valueOf(row.cells[column]), isDown));
  };
  const tablesOf = (root) => [...root.querySelectorAll("table.sortable")];
  // Returns the sorting of each table in a part of the page, to restore it after the part was fetched again.
  const orders = (root) => tablesOf(root).map((table) => {
    const cell = table.tHead.querySelector("[aria-sort]");
    return cell && [columnOf(cell), cell.getAttribute("aria-sort") === "descending"];
  });
  const tables = (root, before = []) => tablesOf(root).forEach((table, at) => {
    const head = table.tHead.rows[0];
    const isNumeric = (cell) => {
      const values = [...table.tBodies[0].rows].map((row) => valueOf(row.cells[columnOf(cell)]));
      return cell.textContent !== "#" && typeof values.find((value) => value !== null) === "number";
    };
    heads(head, sorts(table), isNumeric);
    if (before[at]) order(head.children[before[at][0]], before[at][1], sorts(table));
  });
  return { heads, orders, sorted, tables, valueOf };
})();
