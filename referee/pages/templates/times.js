// Pages contain times in UTC. This script shows them in the reader's time zone; pointing at a time shows UTC.
function localTimes(root) {
  const parts = { year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  for (const time of root.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    if (isNaN(at)) continue;
    time.title = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
    time.textContent = at.toLocaleString([], parts);
  }
}
localTimes(document);
