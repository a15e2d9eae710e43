
"use strict";
// Texts from players reach the page only through textContent. Boards are drawings from the referee, parsed as XML.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
  const FRAME_MS = 1300;
  const MOST_BROUGHT = 1.9e6; // characters; browsers can't open an address of more than 2 MiB
  const LEFT = 56; // room for the numbers next to a chart
  const data = JSON.parse(document.getElementById("data").textContent);
  const frames = data.frames;
  const byId = (id) => document.getElementById(id);
  const charts = [];
  let index = 0;
  let speed = 1;
  let timer = null;

  const node = (tag, attributes = {}, text = "") => {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text) made.textContent = text;
    return made;
  };
  const element = (tag, text = "", className = "") => {
    const made = document.createElement(tag);
    made.textContent = text;
    made.className = className;
    return made;
  };
  const duration = (ms) => {
    if (ms >= 60000) return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
    if (ms >= 1000) return `${+(ms / 1000).toFixed(2)} s`;
    if (ms > 0 && ms < 0.1) return `${+(ms * 1000).toFixed(1)} µs`;
    return `${+ms.toFixed(ms < 10 ? 1 : 0)} ms`;
  };
  const trace = (seat) => `trace seat${seat % 4} dash${(seat + Math.floor(seat / 4)) % 4}`;

  // --- one frame

  // A frame has the edits that make its board from the board before: [keep, drop, first, count, first, count...].
  const boards = [];
  for (const { board } of frames) {
    const before = boards.findLast(Boolean) ?? [];
    let at = 0;
    const now = [];
    for (const [keep, drop, ...runs] of board ?? []) {
      now.push(...before.slice(at, at + keep));
      at += keep + drop;
      for (let i = 0; i < runs.length; i += 2) now.push(...data.lines.slice(runs[i], runs[i] + runs[i + 1]));
    }
    boards.push(board && now.concat(before.slice(at)));
  }

  const boardOf = (number) => {
    if (!boards[number]) return element("div", "nothing was dealt yet", "none");
    const parsed = new DOMParser().parseFromString(boards[number].join("\n"), "image/svg+xml");
    const [, , width, height] = parsed.documentElement.getAttribute("viewBox").split(" ");
    byId("board").style.setProperty("--ratio", Math.min(width / height, 2));
    const eyes = byId("eyes").value;
    for (const hand of parsed.querySelectorAll("[data-hand]")) if (eyes && hand.dataset.hand !== eyes) hand.remove();
    return document.importNode(parsed.documentElement, true);
  };

  const showNow = (frame) => {
    const steps = data.hasSteps ? " (each part of a player's turn is counted)" : "";
    const again = frame.resumed ? "; before it, the referee stopped and resumed the match" : "";
    byId("when").textContent = `turn ${frame.turn} of ${data.turns}${steps}, ${duration(frame.at)} into the match${again}`;
    byId("head").textContent = frame.head;
    if (frame.gain) byId("head").append(element("span", `${frame.gain > 0 ? "+" : ""}${frame.gain}`, "gain"));
    const took = frame.took === null ? "" : ` (after ${duration(frame.took)})`;
    byId("move").textContent = frame.move === null ? "" : frame.move + took;
    byId("ending").textContent = index === frames.length - 1 ? data.ending : "";
    byId("now").classList.toggle("foul", frame.reasons.length > 0);
    byId("reasons").replaceChildren(
      ...frame.reasons.flatMap(([label, text]) => [element("dt", label), element("dd", text)]),
    );
  };

  const usedUntil = (ms) => {
    const used = data.names.map(() => 0);
    for (const [seat, , at, took] of data.answers) if (at <= ms) used[seat] += took;
    return used;
  };

  const showSeats = (frame) => {
    const used = usedUntil(frame.at);
    const rows = data.names.map((name, seat) => {
      const row = element("tr");
      const cell = element("td", "", "name");
      const swatch = node("svg", { viewBox: "0 0 30 12", "aria-hidden": "true" });
      swatch.append(node("path", { d: "M0 6H30", class: trace(seat) }), mark(seat, 15, 6));
      cell.append(swatch, name);
      const isOut = frame.out.includes(seat);
      if (isOut) row.classList.add("out");
      else if (frame.next === seat) row.classList.add("next");
      const points = frame.scores ? String(frame.scores[seat]) : "–";
      const state = isOut ? "expelled" : frame.next === seat ? "to move" : "";
      row.append(cell, element("td", points, "points"), element("td", state), element("td", duration(used[seat])));
      return row;
    });
    byId("seats").replaceChildren(...rows);
  };

  const show = (wanted) => {
    index = Math.min(Math.max(wanted, 0), frames.length - 1);
    const frame = frames[index];
    byId("board").replaceChildren(boardOf(index));
    showNow(frame);
    showSeats(frame);
    byId("slider").value = index;
    byId("slider").setAttribute("aria-valuetext", `turn ${frame.turn}: ${frame.head}`);
    byId("turn").textContent = `turn ${frame.turn} / ${data.turns}`;
    byId("first").disabled = byId("back").disabled = index === 0;
    byId("last").disabled = byId("forward").disabled = index === frames.length - 1;
    for (const chart of charts) chart.point();
    markTurn();
  };

  const turns = [...document.querySelectorAll("#turns tbody tr")];
  const markTurn = () => {
    for (const row of turns) row.classList.remove("now-shown");
    const box = byId("turns").parentElement;
    turns[index].classList.add("now-shown");
    box.scrollTop = turns[index].offsetTop - box.clientHeight / 2;
  };

  // --- playing

  const pause = () => {
    clearTimeout(timer);
    timer = null;
    showPlaying();
  };
  const showPlaying = () => {
    byId("play").classList.toggle("playing", timer !== null);
    byId("play").setAttribute("aria-label", timer === null ? "Play" : "Pause");
  };
  const goOn = () => {
    timer = setTimeout(() => {
      show(index + 1);
      if (index < frames.length - 1) goOn();
      else pause();
    }, FRAME_MS / speed);
    showPlaying();
  };
  const toggle = () => {
    if (timer !== null) return pause();
    if (index === frames.length - 1) show(0);
    return goOn();
  };
  const step = (wanted) => {
    pause();
    show(wanted);
  };
  const setSpeed = (value) => {
    speed = value;
    byId("speed").value = String(value);
    if (timer !== null) {
      clearTimeout(timer);
      goOn();
    }
  };
  const changeSpeed = (by) => {
    const at = SPEEDS.indexOf(speed) + by;
    if (at >= 0 && at < SPEEDS.length) setSpeed(SPEEDS[at]);
  };
  const fillScreen = () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else byId("board").requestFullscreen();
  };

  const KEYS = {
    ArrowRight: () => step(index + 1),
    ArrowLeft: () => step(index - 1),
    Home: () => step(0),
    End: () => step(frames.length - 1),
    " ": toggle,
    "+": () => changeSpeed(1),
    "=": () => changeSpeed(1),
    "-": () => changeSpeed(-1),
    f: fillScreen,
  };
  const onKey = (event) => {
    const act = KEYS[event.key];
    const isElsewhere = event.target.matches("select, input:not([type=range])") || (event.key === " " && event.target.tagName === "BUTTON");
    if (!act || isElsewhere || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  };
  const onClick = (id, act) => {
    byId(id).addEventListener("click", (event) => {
      act();
      if (event.detail) byId(id).blur(); // after a click with a pointer, the space bar must still play and pause
    });
  };

  // --- charts

  const mark = (seat, x, y) => {
    const shapes = ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "M-3.6-3.6h7.2v7.2h-7.2z", "M0-4.6L4.4 3.4H-4.4z", "M0-5L5 0L0 5L-5 0z"];
    return node("path", { d: shapes[seat % 4], transform: `translate(${x} ${y})`, class: `mark seat${seat % 4}` });
  };
  const niceStep = (span, count) => {
    const rough = span / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  };
  const linearTicks = (low, high, count, least = 0) => {
    const by = Math.max(niceStep(high - low || 1, count), least);
    const ticks = [];
    for (let at = Math.ceil(low / by) * by; at <= high + by * 1e-9; at += by) ticks.push(+at.toPrecision(12));
    return ticks;
  };
  const decades = (low, high) => {
    const ticks = [];
    for (let at = low; at <= high * 1.0001; at *= 10) ticks.push(+at.toPrecision(6));
    return ticks;
  };

  // A chart of series of [x, y, label], one for each seat. It is drawn again for each width, so that its text keeps its size.
  class Chart {
    constructor(host, spec) {
      this.host = host;
      this.spec = spec;
      charts.push(this);
      new ResizeObserver(() => this.draw()).observe(host);
    }

    draw() {
      const { host, spec } = this;
      this.width = host.clientWidth;
      this.height = host.clientHeight;
      this.svg = node("svg", { viewBox: `0 0 ${this.width} ${this.height}`, role: "img", "aria-label": spec.label });
      this.drawAxes();
      if (spec.limit) this.drawLimit(spec.limit);
      spec.series.forEach((points, seat) => this.drawSeries(points, seat));
      this.cursor = node("path", { class: "cursor" });
      this.svg.append(this.cursor);
      this.svg.addEventListener("click", (event) => this.jump(event));
      host.replaceChildren(this.svg);
      this.point();
    }

    x(value) {
      const [low, high] = this.spec.x;
      return LEFT + ((value - low) / (high - low || 1)) * (this.width - LEFT - 14);
    }

    y(value) {
      const scale = this.spec.isLog ? Math.log10 : Number;
      const [low, high] = this.spec.y;
      const part = (scale(Math.max(value, low)) - scale(low)) / (scale(high) - scale(low) || 1);
      return this.height - 36 - part * (this.height - 48);
    }

    drawAxes() {
      const { spec, svg } = this;
      const ticks = spec.isLog ? decades(...spec.y) : linearTicks(...spec.y, 5, spec.least);
      for (const tick of ticks) {
        svg.append(node("path", { d: `M${LEFT} ${this.y(tick)}H${this.width - 14}`, class: "grid" }));
        svg.append(node("text", { x: LEFT - 6, y: this.y(tick) + 4, "text-anchor": "end" }, spec.yText(tick)));
      }
      for (const tick of linearTicks(...spec.x, Math.max(2, this.width / 90), spec.least)) {
        svg.append(node("text", { x: this.x(tick), y: this.height - 19, "text-anchor": "middle" }, spec.xText(tick)));
      }
      svg.append(node("text", { x: this.width - 14, y: this.height - 3, "text-anchor": "end" }, spec.xLabel));
    }

    drawLimit(limit) {
      const y = this.y(limit);
      this.svg.append(node("path", { d: `M${LEFT} ${y}H${this.width - 14}`, class: "limit" }));
      this.svg.append(node("text", { x: this.width - 14, y: y + 14, "text-anchor": "end" }, `limit ${duration(limit)}`));
    }

    drawSeries(points, seat) {
      if (this.spec.shape !== "dots" && points.length) {
        const isStep = this.spec.shape === "steps";
        const spots = points.map(([x, y], at) => `${at ? (isStep ? `H${this.x(x)}V` : `L${this.x(x)} `) : `M${this.x(x)} `}${this.y(y)}`);
        this.svg.append(node("path", { d: spots.join(""), class: trace(seat) }));
      }
      if (this.spec.shape === "steps") return;
      const every = this.spec.shape === "lines" ? Math.ceil(points.length / 30) : 1; // marks that touch each other would hide the line
      for (const [x, y, label] of points.filter((_, at) => at % every === 0)) {
        const dot = mark(seat, this.x(x), this.y(y));
        dot.append(node("title", {}, label));
        this.svg.append(dot);
      }
    }

    point() {
      if (this.cursor) this.cursor.setAttribute("d", `M${this.x(this.spec.at(frames[index]))} 8V${this.height - 34}`);
    }

    jump(event) {
      const at = event.clientX - this.svg.getBoundingClientRect().left;
      const away = frames.map((frame) => Math.abs(this.x(this.spec.at(frame)) - at));
      step(away.indexOf(Math.min(...away)));
    }
  }

  const bySeat = (make) => data.names.map((_, seat) => make(seat));
  const chartPoints = () => {
    const scored = frames.filter((frame) => frame.scores);
    byId("chart-points").closest("section").hidden = !scored.length; // a game may have no points before its end
    if (!scored.length) return;
    const all = scored.flatMap((frame) => frame.scores);
    const line = (seat) => scored.map((frame) => [frame.turn, frame.scores[seat], `${data.names[seat]}, turn ${frame.turn}: ${frame.scores[seat]}`]);
    new Chart(byId("chart-points"), {
      label: "points over turns", shape: "lines", series: bySeat(line), xLabel: "turn",
      x: [0, Math.max(data.turns, 1)], y: [Math.min(0, ...all), Math.max(1, ...all)],
      least: 1, xText: String, yText: String, at: (frame) => frame.turn,
    });
  };
  const chartTimes = () => {
    if (!data.answers.length) return;
    const end = Math.max(...data.answers.map((answer) => answer[2]), ...frames.map((frame) => frame.at));
    const shared = { x: [0, end], xText: duration, xLabel: "since the match was opened", yText: duration, at: (frame) => frame.at };
    const own = (seat) => data.answers.filter((answer) => answer[0] === seat);
    const dot = (seat) => own(seat).map(([, turn, at, took]) => [at, took, `${data.names[seat]}, turn ${turn}: ${duration(took)}`]);
    const least = Math.min(...data.answers.map((answer) => answer[3]).filter((took) => took > 0), data.limit);
    const most = Math.max(data.limit, ...data.answers.map((answer) => answer[3]));
    new Chart(byId("chart-answers"), {
      ...shared, label: "time of each answer", shape: "dots", series: bySeat(dot), isLog: true, limit: data.limit,
      y: [10 ** Math.floor(Math.log10(least)), most * 1.5],
    });
    const total = (seat) => {
      let sum = 0;
      return [[0, 0, ""], ...own(seat).map(([, , at, took]) => [at, (sum += took), ""]), [end, sum, ""]];
    };
    const totals = bySeat(total);
    new Chart(byId("chart-clock"), {
      ...shared, label: "time used so far", shape: "steps", series: totals,
      y: [0, Math.max(1, ...totals.map((points) => points[points.length - 1][1]))],
    });
  };

  // --- beginning

  // Without a server, the verifying page can't read the record. So the link to it gets the record that is in this page.
  const bring = ({ currentTarget: link }) => {
    const bytes = new TextEncoder().encode(JSON.parse(byId("record-text").textContent));
    const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    const [, named, asked] = /^([^&]*)(&deal)?$/.exec(link.getAttribute("href"));
    if (text.length > MOST_BROUGHT) return; // the reader has to choose the file there
    link.href = `${named.split("=").slice(0, 2).join("=")}=${text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}${asked ?? ""}`;
  };

  const expulsionOf = (seat) => frames.findIndex(({ reasons, seat: who }) => reasons.length > 0 && who === seat);
  const showPositions = () => {
    for (const place of document.querySelectorAll(".expulsion")) {
      const at = expulsionOf(Number(place.id.split("-")[1]));
      if (at >= 0) place.querySelector(".position").replaceChildren(boardOf(at));
    }
  };

  // The end of the address may name a turn (#turn-7 or ?turn=7), of which the last frame is shown, or an expulsion (#expulsion-0).
  const linked = () => {
    const expelled = /^#expulsion-(\d{1,2})$/.exec(location.hash);
    if (expelled) return Math.max(expulsionOf(Number(expelled[1])), 0);
    const named = /^#turn-(\d{1,9})$/.exec(location.hash) ?? /[?&]turn=(\d{1,9})(?:&|$)/.exec(location.search);
    return named ? Math.max(frames.findLastIndex((frame) => frame.turn <= Number(named[1])), 0) : 0;
  };

  const begin = () => {
    byId("slider").max = frames.length - 1;
    byId("slider").addEventListener("input", () => step(Number(byId("slider").value)));
    for (const factor of SPEEDS) byId("speed").append(new Option(`${factor}×`, String(factor)));
    byId("speed").addEventListener("change", () => setSpeed(Number(byId("speed").value)));
    setSpeed(1);
    byId("seen").hidden = !data.lines.some((line) => line.startsWith("<g data-hand="));
    data.names.forEach((name, seat) => byId("eyes").append(new Option(name, String(seat))));
    byId("eyes").addEventListener("change", () => {
      showPositions();
      show(index);
    });
    if (byId("record-text") && location.protocol === "file:") for (const link of document.querySelectorAll("a.verifies")) link.addEventListener("click", bring);
    onClick("first", () => step(0));
    onClick("back", () => step(index - 1));
    onClick("play", toggle);
    onClick("forward", () => step(index + 1));
    onClick("last", () => step(frames.length - 1));
    document.addEventListener("keydown", onKey);
    chartPoints();
    chartTimes();
    showPositions();
    show(linked());
    for (const [at, row] of turns.entries()) {
      row.removeAttribute("id"); // so that an address with this id does not scroll to the row, away from the board
      row.addEventListener("click", () => step(at));
    }
    addEventListener("hashchange", () => {
      step(linked());
      byId("now").scrollIntoView({ block: "nearest" });
    });
  };
  if (frames.length) begin();
  else byId("board").append(element("div", "nothing has happened yet", "none"));
})();
