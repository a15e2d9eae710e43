// Follows every tile of a match of Q as docs/reference/record-checks.md, "Tiles of Q", says, and makes every view anew.
// It takes the players' word for their moves, and the record's for what they score: it knows no rules.
"use strict";
const { Finding, hex, packed } = require("./verify_lines.js");
const { deal } = require("./shuffle.js");

class Tiles {
  static dealt(key, seats) {
    const { deck, hands, table } = deal(key, seats);
    return new Tiles({ map: [[0, 0, table]], pile: deck.slice(6 * seats + 1), hands, scores: hands.map(() => 0) });
  }
  static placed({ map, pile, players }) { // of a given position
    return new Tiles({ map, pile, hands: players.map(({ hand }) => hand), scores: players.map(({ score }) => score) });
  }
  constructor({ map, pile, hands, scores }) {
    Object.assign(this, { map: [...map], pile: [...pile], hands: hands.map((hand) => [...hand]), scores });
    this.order = hands.map((_, seat) => seat);
    this.arriving = null; // { seat, tiles }: taken, and not yet confirmed; or the last play's
    this.views = 0; // how many were made again
  }

  take(line, event, commands) {
    const isExpelled = (seat) => commands.some((each) => each.foul && each.seat === seat);
    const told = commands.filter((each) => each.command === "tell-seat" && each.what.kind === "played");
    const isPlay = event.event === "move-received" && told.length > 0;
    if (event.event === "ack-received" && !isExpelled(event.seat)) this.deliver(event.seat);
    if (isPlay) this.play(line, event, told);
    for (const command of told) this.checkDraws(line, command);
    if (isPlay && told.every(({ ack }) => ack === null)) this.deliver(event.seat);
    for (const command of commands) {
      if (command.command === "tell-seat" && command.what.kind === "expelled") this.drop(command.what.seat);
      if ((command.view ?? null) !== null) this.checkView(line, command);
    }
  }
  play(line, { seat, move }, told) {
    const { what } = told[0];
    const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
    const isMove = what.seat === seat && what.action === move.action && isSame(what.tiles, move.tiles);
    if (!isMove || !told.every((each) => isSame(each.what, what))) throw new Finding(line, "the seats were told of another move");
    let taken = [];
    if (move.action === "place") {
      for (const [row, column, tile] of move.tiles) {
        const place = this.hands[seat].indexOf(tile);
        if (place < 0) throw new Finding(line, `seat ${seat} places ${tile}, which it does not have`);
        this.hands[seat].splice(place, 1);
        this.map.push([row, column, tile]);
      }
      if (this.hands[seat].length) taken = this.pile.splice(0, move.tiles.length);
    } else if (move.action === "exchange") {
      this.pile.push(...this.hands[seat]);
      taken = this.pile.splice(0, this.hands[seat].length);
      this.hands[seat] = [];
    }
    const isThrough = move.action === "place" && !this.hands[seat].length;
    if (!isThrough) this.order = [...this.order.filter((other) => other !== seat), seat];
    this.scores[seat] = what.score;
    this.arriving = { seat, tiles: taken, isNull: move.action === "pass" || isThrough };
  }
  deliver(seat) {
    if (this.arriving?.seat !== seat) return;
    this.hands[seat].unshift(...this.arriving.tiles);
    this.arriving = null;
  }
  drop(seat) {
    if (!this.order.includes(seat)) return; // another one was told of it before
    this.order = this.order.filter((other) => other !== seat);
    this.pile.push(...this.hands[seat]);
    this.hands[seat] = [];
    if (this.arriving?.seat === seat) this.arriving = null;
  }

  checkDraws(line, { seat, draws }) {
    const isMine = this.arriving?.seat === seat && !this.arriving.isNull;
    const due = isMine ? this.arriving.tiles.join(" ") : null;
    const told = draws === null ? null : draws.join(" ");
    if (told !== due) throw new Finding(line, `seat ${seat} was handed ${told}, but the shuffle gives it ${due}`);
  }
  checkView(line, { command, seat, view }) {
    this.views++;
    const { order, map } = this;
    const made = { seat, hand: this.hands[seat], scores: this.scores, order, tiles_left: this.pile.length, map };
    if (hex(packed(made)) === view) return;
    throw new Finding(line, `the view of seat ${seat} in ${command} does not follow from shuffle and moves`);
  }
}

module.exports = { Tiles };
