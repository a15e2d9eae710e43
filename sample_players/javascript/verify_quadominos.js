// The tiles of Quad-Ominos, as docs/reference/record-tiles.md, "Tiles of Quad-Ominos", says. Nobody is told what is drawn
// but by views: so every view is made again, up to what its seat is asked for, which follows from the rules alone.
"use strict";
const { Finding } = require("./verify_lines.js");
const { Tiles } = require("./verify_tiles.js");
const { dealHands, laterKey } = require("./shuffle.js");

const PENALTY = 20;
const STEPS = ["lay", "open", "bonus", "second", "extra"];
const turns = (tile) => [0, 1, 2, 3].map((i) => tile.slice(i) + tile.slice(0, i));
const printed = (tile) => turns(tile).sort()[0];
const isQuad = (tile) => new Set(tile).size === 1;
const total = (tile) => [...tile].reduce((sum, digit) => sum + Number(digit), 0);
const corners = (row, column) => [[row, column], [row, column + 1], [row + 1, column + 1], [row + 1, column]];
const rotated = (seats, first) => [...seats.slice(seats.indexOf(first)), ...seats.slice(0, seats.indexOf(first))];

class QuadTiles extends Tiles {
  static dealt({ names, options }, key) {
    const tiles = new QuadTiles(names.map(() => []), []);
    const zeros = () => names.map(() => 0);
    Object.assign(tiles, { key, options, scores: zeros(), round: 0, ahead: [], isOver: false });
    tiles.dealAgain();
    return tiles;
  }

  // --- rounds

  dealAgain() { // and open the round, as far as nobody is asked
    const seats = [...this.order].sort((one, other) => one - other);
    const { hands, rest } = dealHands("quadominos", laterKey(this.key, this.round), seats.length);
    this.hands = this.hands.map((_, seat) => (seats.includes(seat) ? hands[seats.indexOf(seat)] : []));
    Object.assign(this, { round: this.round + 1, pile: rest, passes: 0, drew: this.hands.map(() => 0) });
    Object.assign(this, { skipped: this.hands.map(() => 0), lost: this.hands.map(() => 0) });
    this.ahead.push({ event: "dealt", round: this.round, tiles: hands[0].length });
    this.keep();
    this.open(seats);
  }
  open(seats) {
    this.board = [];
    const rank = (tile) => (isQuad(tile) ? 1e6 : 0) + 1e4 * total(tile) + Number(tile); // quads, then totals, then numbers
    const held = seats.flatMap((seat) => this.hands[seat].map((tile) => ({ seat, tile, rank: rank(tile) })));
    const first = held.reduce((best, each) => (each.rank > best.rank ? each : best));
    this.order = rotated(seats, first.seat);
    if (isQuad(first.tile)) return;
    const points = total(first.tile);
    this.happens({ event: "laid", seat: first.seat, points, row: 0, column: 0, tile: first.tile, met: 0 });
    this.order = [...this.order.slice(1), first.seat];
    this.begin();
  }
  happens(event) { // by the referee's own doing, and will be told with the next move
    this.ahead.push(event);
    this.follow(event);
  }
  begin() { // the turn of the first seat that can lay a tile
    while (!this.canLay(this.hands[this.order[0]])) {
      const seat = this.order[0];
      if (this.pile.length) {
        const fitting = this.pile.findIndex((tile) => this.canLay([tile]));
        const tiles = fitting < 0 ? this.pile.length : fitting + 1;
        this.happens({ event: "drew", seat, tiles, lost: PENALTY * tiles });
        continue;
      }
      this.happens({ event: "skipped", seat, lost: PENALTY });
      if (this.passes < this.order.length) continue;
      this.happens({ event: "blocked" });
      this.isOver = this.isLast();
      if (!this.isOver) this.dealAgain();
      return;
    }
  }
  isLast() { // whether the game ends with this round
    const { target = 800, rounds = null, max_rounds: most = 100 } = this.options;
    if (rounds !== null) return this.round === rounds;
    return this.round === most || this.order.some((seat) => this.scores[seat] >= target);
  }
  canLay(tiles) {
    const numbers = new Map();
    const cells = new Set(this.board.map(([row, column]) => `${row},${column}`));
    for (const [row, column, tile] of this.board) corners(row, column).forEach((at, i) => numbers.set(String(at), tile[i]));
    const neighbours = this.board.flatMap(([row, column]) => [[row, column + 1], [row + 1, column], [row, column - 1], [row - 1, column]]);
    const wanted = neighbours.filter((cell) => !cells.has(String(cell)))
      .map(([row, column]) => corners(row, column).map((at) => numbers.get(String(at))));
    const fits = (tile) => wanted.some((four) => four.every((number, i) => number === undefined || number === tile[i]));
    return tiles.some((tile) => turns(tile).some(fits));
  }

  // --- what happens

  follow({ event, seat, tile, tiles, row, column, points = 0, lost = 0 }) {
    this.scores[seat] += points - lost;
    if (event === "laid") {
      this.remove(this.line, seat, (each) => each === printed(tile), tile);
      this.board.push([row, column, tile]);
      for (const counts of [this.drew, this.skipped, this.lost]) counts[seat] = 0;
      this.passes = 0;
    } else if (event === "drew") {
      const drawn = this.pile.splice(0, tiles);
      this.hands[seat].push(...drawn);
      this.drew[seat] += tiles;
      this.lost[seat] += lost;
      this.show(this.line, seat, "draws", drawn, `${tiles} tiles`, true);
    } else if (event === "skipped") {
      this.order = [...this.order.slice(1), seat];
      this.skipped[seat]++;
      this.lost[seat] += lost;
      this.passes++;
    }
  }
  isMove(move, { events }) {
    const own = events[this.ahead.length];
    if (move.action === "done") return true;
    if (move.action === "points") return own?.event === "bonus";
    return own?.event === "laid" && ["row", "column", "tile"].every((key) => own[key] === move[key]);
  }
  play(line, { seat, score, events }, asked) { // told: what was ahead, the move, and what the referee did then
    const known = this.ahead.length;
    this.checkAhead(line, events.slice(0, known));
    const isOwn = ({ event }) => ["laid", "bonus", "went-out"].includes(event);
    const later = events.slice(known);
    const count = later.findIndex((event) => !isOwn(event));
    const own = count < 0 ? later : later.slice(0, count);
    own.forEach((event) => this.follow(event));
    const rest = later.slice(own.length);
    if (own.at(-1)?.event === "went-out") {
      if (this.isLast()) this.isOver = true;
      else this.dealAgain();
    } else if (rest.length || (asked && !asked.goes_on)) {
      this.order = [...this.order.slice(1), seat];
      this.begin();
    }
    this.checkAhead(line, rest);
    if (this.scores[seat] !== score) throw new Finding(line, `the score of seat ${seat} is ${this.scores[seat]}, not ${score}`);
    return null;
  }
  checkAhead(line, told) {
    for (const [i, event] of this.ahead.entries()) {
      const isIt = Object.keys(event).every((key) => told[i]?.[key] === event[key]);
      if (!isIt) throw new Finding(line, `by the shuffle it happened that ${JSON.stringify(event)}, but told was ${JSON.stringify(told[i])}`);
    }
    if (told.length > this.ahead.length) throw new Finding(line, `told was ${JSON.stringify(told.at(-1))}, which did not happen`);
    this.ahead = [];
  }
  drop(seat) {
    const wasToMove = this.order[0] === seat;
    this.order = this.order.filter((other) => other !== seat);
    this.pile.push(...this.hands[seat].splice(0));
    for (const counts of [this.scores, this.drew, this.skipped, this.lost]) counts[seat] = 0;
    if (this.order.length < 2) this.isOver = true;
    if (this.isOver || !wasToMove) return;
    if (this.board.length) this.begin();
    else this.open([...this.order].sort((one, other) => one - other));
  }
  viewsOf(seat) { // one for all that its seat may be asked for: that is not checked
    const { board, order, scores, round, drew, skipped, lost, passes } = this;
    const hand = this.hands[seat];
    const sizes = this.hands.map(({ length }) => length);
    const rest = { drawn: hand.slice(hand.length - drew[seat]), drew, skipped, lost, passes };
    const counts = Array.from({ length: 3 * 13 }, (_, i) => ({ additional: i % 3, bonuses: Math.floor(i / 3) }));
    return counts.flatMap((asked) => STEPS.map((step) =>
      ({ seat, hand, step, ...asked, board, order, scores, hand_sizes: sizes, well: this.pile.length, round, ...rest })));
  }
}

module.exports = { QuadTiles };
