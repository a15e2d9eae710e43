// The towers of Quincala Mixing, as docs/reference/record-tiles.md says, "Towers of Quincala Mixing": it has no chance, and
// the views before the first move show how they were set up.
"use strict";
const { Tiles } = require("./verify_tiles.js");

const ROWS = [...Array(4).fill("wwwww.wwwww"), ...Array(3).fill("..........."), ...Array(4).fill("bbbbb.bbbbb")];
const COLUMNS = { 3: [4, 6, 8], 4: [3, 5, 7, 9], 5: [2, 4, 6, 8, 10] }; // number of sizes -> of the towers in rows 2 and 10
const COLOURS = ["w", "b"];

class QuincalaTiles extends Tiles {
  static setUp({ options: { sizes = 5, layout = null, max_turns: mostTurns = 400 } }) {
    const ownRows = (row) => COLUMNS[sizes].map((column) => [row, column]);
    const start = layout ? layout.start[sizes] : { white: ownRows(2), black: ownRows(10) };
    const tower = (colour) => Array.from({ length: sizes }, (_, i) => `${colour}${i + 1}`);
    const towers = [start.white, start.black].map((places, seat) =>
      places.map(([row, column]) => [row, column, tower(COLOURS[seat])]));
    const tiles = new QuincalaTiles([[], []], []);
    const board = towers.flat().sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    Object.assign(tiles, { isBegun: false, start: { sizes, layout: layout?.map ?? ROWS, board, mostTurns } });
    tiles.keep(board.map(([row, column, pieces]) => `${row},${column}:${pieces.join("")}`));
    return tiles;
  }

  isMove(move, what) {
    return move.action === what.action;
  }
  play() {
    this.isBegun = true;
    return null;
  }
  drop(seat) {
    this.order = this.order.filter((other) => other !== seat);
  }
  viewsOf(seat) {
    if (this.isBegun) return [];
    const { start: { sizes, layout, board, mostTurns }, order } = this;
    const phase = order.length < 2 ? "over" : "move";
    const view = {
      seat, sizes, layout, board, hands: [[], []], scores: [0, 0], order, phase, steps: 0, path: [], placed: [],
      immune: [], fresh: [], turns: 0, max_turns: mostTurns, skipped: false,
    };
    return [view, { ...view, order: [...order].reverse(), turns: 1, skipped: true }]; // the first may have no leg on a given board
  }
}

module.exports = { QuincalaTiles };
