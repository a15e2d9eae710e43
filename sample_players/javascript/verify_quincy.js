// The dominoes of Quincy, as docs/reference/record-tiles.md, "Dominoes of Quincy", says. Everything that is handed out is
// told, so of the views only those before the first move are made.
"use strict";
const { Tiles, isSame } = require("./verify_tiles.js");
const { dealHands } = require("./shuffle.js");

const LINES_TO_WIN = 2;
const ends = (domino) => domino.split("-").map(Number);
const lowFirst = (domino) => [...domino].sort();

class QuincyTiles extends Tiles {
  static dealt({ names }, key) {
    const { hands, rest } = dealHands("quincy", key, names.length);
    const tiles = new QuincyTiles(hands.map((hand) => hand.map(ends)), rest.map(ends));
    tiles.keep();
    return tiles;
  }
  constructor(hands, pile) {
    super(hands, pile);
    this.expelled = [];
    this.isBegun = false;
  }

  isMove(move, { action, domino, square }) {
    const isIt = Array.isArray(move.domino) && isSame(lowFirst(move.domino), domino);
    return isIt && move.action === action && isSame(move.square, square);
  }
  play(line, { seat, domino, lines }) { // -> what is drawn, null after the play that wins
    this.isBegun = true;
    this.remove(line, seat, (each) => isSame(each, domino), domino);
    return lines < LINES_TO_WIN ? this.pile.splice(0, 1) : null;
  }
  receive(seat, dominoes) {
    this.hands[seat].push(...dominoes);
  }
  drop(seat) { // face down
    this.order = this.order.filter((other) => other !== seat);
    this.hands[seat] = [];
    this.expelled.push({ seat, action: "expelled", dominoes: [], square: null });
  }
  viewsOf(seat) {
    if (this.isBegun) return [];
    return [{
      seat, stone: "AB"[seat % 2], hand: this.hands[seat], drew: [], same_turn: false, order: this.order,
      hand_sizes: this.hands.map((hand) => hand.length), pile: this.pile.length,
      board: Array(9).fill("........."), lines: [], face_up: [], since: this.expelled,
    }];
  }
}

module.exports = { QuincyTiles };
