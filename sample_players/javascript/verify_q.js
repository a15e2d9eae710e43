// The tiles of Q, as docs/reference/record-tiles.md, "Tiles of Q", says; every view can be made of them.
"use strict";
const { Tiles, isSame } = require("./verify_tiles.js");
const { deal } = require("./shuffle.js");

class QTiles extends Tiles {
  static dealt({ names }, key) {
    const { deck, hands, table } = deal(key, names.length);
    const tiles = new QTiles(hands, deck.slice(6 * names.length + 1), [[0, 0, table]]);
    tiles.keep([table]);
    return tiles;
  }
  static placed({ position: { map, pile, players } }) { // of a given position
    return new QTiles(players.map(({ hand }) => hand), pile, map, players.map(({ score }) => score));
  }
  constructor(hands, pile, map, scores = hands.map(() => 0)) {
    super(hands, pile);
    Object.assign(this, { map: [...map], scores: [...scores] });
  }

  isMove(move, { action, tiles }) {
    return move.action === action && isSame(move.tiles, tiles);
  }
  play(line, { seat, action, tiles, score }) { // -> what is handed out, null if nothing can be
    this.scores[seat] = score;
    if (action === "exchange") this.pile.push(...this.hands[seat]);
    const count = action === "exchange" ? this.hands[seat].splice(0).length : (tiles ?? []).length;
    for (const [row, column, tile] of tiles ?? []) {
      this.map.push([row, column, this.remove(line, seat, (each) => each === tile, tile)]);
    }
    const isThrough = action === "place" && !this.hands[seat].length;
    if (!isThrough) this.order = [...this.order.filter((other) => other !== seat), seat];
    return action === "pass" || isThrough ? null : this.pile.splice(0, count);
  }
  receive(seat, tiles) {
    this.hands[seat].unshift(...tiles);
  }
  drop(seat) {
    this.order = this.order.filter((other) => other !== seat);
    this.pile.push(...this.hands[seat].splice(0));
  }
  viewsOf(seat) {
    const { order, map, scores } = this;
    return [{ seat, hand: this.hands[seat], scores, order, tiles_left: this.pile.length, map }];
  }
}

module.exports = { QTiles };
