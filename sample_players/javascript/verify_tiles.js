// Follows the tiles of a match as docs/reference/record-tiles.md says, "In all games": what they have in common. It takes the players' word for their moves, and the record's for what they score: it knows no rules.
"use strict";
const { Finding, hex, packed } = require("./verify_lines.js");

const isHidden = (value) => typeof value?.hidden === "string"; // in a redacted record
const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
const words = (tiles) => (tiles ?? []).map(String).join(" ") || "none";

class Tiles { // a game's own class says how its tiles are dealt, played, handed out, dropped and shown
  constructor(hands, pile) {
    this.hands = hands.map((hand) => [...hand]); // by seat
    this.pile = [...pile]; // front first
    this.order = hands.map((_, seat) => seat);
    this.arriving = null; // { seat, tiles }: taken, and not yet confirmed; or the last play's
    this.line = null; // the one that is followed; null before the first
    this.views = 0; // how many were made again
    this.deals = []; // as they were made: { hands, table, pile }
    this.shown = []; // what seats were shown of that: { deal, line, seat, what, dealt, told, isSame }
  }
  keep(table = []) {
    this.deals.push({ hands: this.hands.map((hand) => [...hand]), table, pile: [...this.pile] });
  }

  show(line, seat, what, dealt, told, isSame) { // told: null if the record has its hash alone
    this.shown.push({ deal: this.deals.length, line, seat, what, dealt, told, isSame });
  }

  take(line, { event, commands }, entries) {
    this.line = line;
    const isExpelled = (seat) => commands.some((each) => each.foul && each.seat === seat);
    const told = commands.filter((each) => each.command === "tell-seat" && each.what.kind === "played");
    const isPlay = event.event === "move-received" && told.length > 0;
    if (event.event === "ack-received" && !isExpelled(event.seat)) this.deliver(event.seat);
    if (isPlay) {
      this.checkTold(line, event, told);
      const asked = commands.find(({ command }) => command === "ask-move");
      const taken = this.play(line, told[0].what, asked);
      this.arriving = { seat: event.seat, tiles: taken ?? [], isNull: taken === null };
    }
    for (const command of told) this.checkDraws(line, command);
    if (isPlay && told.every(({ ack }) => ack === null)) this.deliver(event.seat);
    commands.forEach((command, i) => {
      if (command.command === "tell-seat" && command.what.kind === "expelled") this.leave(command.what.seat);
      if (typeof command.view === "string") this.checkView(line, command, entries[`commands.${i}.view`]?.[2]);
    });
  }
  checkTold(line, { seat, move }, told) { // that it is the move, and the same for all
    const { what } = told[0];
    const isMove = what.seat === seat && (isHidden(move) || this.isMove(move, what));
    if (!isMove || !told.every((each) => isSame(each.what, what))) throw new Finding(line, "the seats were told of another move");
  }
  remove(line, seat, isIt, tile) { // of a hand, the foremost
    const place = this.hands[seat].findIndex(isIt);
    if (place < 0) throw new Finding(line, `seat ${seat} plays ${tile}, which it does not have`);
    return this.hands[seat].splice(place, 1)[0];
  }
  deliver(seat) {
    if (this.arriving?.seat !== seat) return;
    this.receive(seat, this.arriving.tiles);
    this.arriving = null;
  }
  receive() {} // where nobody is handed anything
  leave(seat) {
    if (!this.order.includes(seat)) return; // another one was told of it before
    this.drop(seat);
    if (this.arriving?.seat === seat) this.arriving = null;
  }

  checkDraws(line, { seat, draws }) {
    if (isHidden(draws)) return;
    const isMine = this.arriving?.seat === seat && !this.arriving.isNull;
    const due = isMine ? this.arriving.tiles : null;
    const same = isSame(draws, due);
    if (due || !same) this.show(line, seat, "draws", due ?? [], words(draws), same);
    if (!same) throw new Finding(line, `seat ${seat} was handed ${words(draws)}, but the shuffle gives it ${words(due)}`);
  }
  checkView(line, { command, seat, view }, told) { // against the digest, and against the view where that is shown, too
    const made = this.viewsOf(seat);
    if (!made.length) return;
    this.views++;
    const same = made.some((each) => hex(packed(each)) === view);
    const hand = [...(made[0].hand ?? this.deals[0].table)];
    const isFirst = !this.shown.some(({ what, deal, seat: whose }) => what === "view" && deal === this.deals.length && whose === seat);
    if (isFirst || !same) this.show(line, seat, "view", hand, told?.hand ? words(told.hand) : null, same);
    if (same) return;
    const hands = told?.hand && !isSame(told.hand, hand) ? `: its hand there is ${words(told.hand)}, but the shuffle gives it ${words(hand)}` : "";
    throw new Finding(line, `the view of seat ${seat} in ${command} does not follow from shuffle and moves${hands}`);
  }
}

module.exports = { Tiles, isSame };
