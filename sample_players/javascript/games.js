// The games: finds the legal moves from the view alone, and rates each of them.
// Each function takes a view and returns [value, move] pairs, where a simple heuristic gives the value.
// `referee list GAME` prints a game's rules, `referee list GAME --schema` the form of its views and moves.
"use strict";

const at = (row, column) => `${row},${column}`; // arrays can't be keys of a Map, strings can
const STEPS = [[0, 1], [1, 0], [1, 1], [1, -1], [0, -1], [-1, 0], [-1, -1], [-1, 1]];
const SIDES = [[0, 1], [1, 0], [0, -1], [-1, 0]];

// The free cells next to an occupied one; `board` has the cells by name, each beginning with its row and column.
function freeCells(board) {
  const free = new Map();
  for (const [row, column] of board.values()) {
    for (const [down, right] of SIDES) {
      const cell = at(row + down, column + right);
      if (!board.has(cell)) free.set(cell, [row + down, column + right]);
    }
  }
  return [...free.values()];
}

// --- q: place tiles in a line, exchange the hand, or pass

function near(board, row, column) { // the neighbours of a cell: those in its row, and those in its column
  const found = (cells) => cells.map((cell) => board.get(cell)?.[2]).filter(Boolean);
  return [found([at(row, column - 1), at(row, column + 1)]), found([at(row - 1, column), at(row + 1, column)])];
}

const agree = (tiles, part) => tiles.every((tile) => tile.split("-")[part] === tiles[0].split("-")[part]);
const fits = (board, row, column, tile) =>
  near(board, row, column).every((tiles) => agree([tile, ...tiles], 0) || agree([tile, ...tiles], 1));

// Lays a first tile, then more of the hand next to it, along one axis in both directions.
function placement(board, hand, first, [down, right]) {
  const after = new Map(board).set(at(first[0], first[1]), first);
  const tiles = [first];
  const rest = [...hand];
  rest.splice(rest.indexOf(first[2]), 1);
  for (const sign of [1, -1]) {
    let [row, column] = first;
    for (let chosen = 0; chosen >= 0;) {
      while (after.has(at(row, column))) [row, column] = [row + sign * down, column + sign * right];
      chosen = rest.findIndex((tile) => fits(after, row, column, tile));
      if (chosen >= 0) {
        tiles.push([row, column, ...rest.splice(chosen, 1)]);
        after.set(at(row, column), tiles.at(-1));
      }
    }
  }
  const touched = tiles.flatMap(([row, column]) => near(after, row, column)).flat().length;
  return [tiles.length + touched, { action: "place", tiles }];
}

function q(view) {
  const board = new Map(view.map.map((cell) => [at(cell[0], cell[1]), cell]));
  const moves = [[-2, { action: "pass" }]];
  if (view.hand.length <= view.tiles_left) moves.push([-1, { action: "exchange" }]);
  for (const [row, column] of freeCells(board)) {
    for (const tile of new Set(view.hand)) {
      if (!fits(board, row, column, tile)) continue;
      for (const axis of [[0, 1], [1, 0]]) moves.push(placement(board, view.hand, [row, column, tile], axis));
    }
  }
  return moves;
}

// --- quincy: play a domino, and with it add a stone or remove one

function* squaresOf([low, high]) { // the squares that a domino names; a blank stands for any number
  for (let row = 1; row <= 9; row++) {
    for (let column = 1; column <= 9; column++) {
      const named = (row === low && column === high) || (row === high && column === low);
      if (low === 0 ? high === 0 || row === high || column === high : named) yield [row, column];
    }
  }
}

// The worth of a square is high if fours through it have many stones of one colour, own or not.
function worth(stoneOn, row, column) {
  let sum = 0;
  for (const [down, right] of STEPS.slice(0, 4)) {
    for (let start = -3; start <= 0; start++) {
      const others = [0, 1, 2, 3].map((i) => start + i).filter((i) => i !== 0);
      const stones = others.map((i) => stoneOn(row + i * down, column + i * right));
      const counts = ["A", "B"].map((stone) => stones.filter((one) => one === stone).length);
      if (!stones.includes(undefined) && Math.min(...counts) === 0) sum += 4 ** Math.max(...counts);
    }
  }
  return sum;
}

function quincy(view) {
  const stoneOn = (row, column) => view.board[row - 1]?.[column - 1];
  const unbreakable = new Set(view.lines.flatMap((line) => line.squares).map((square) => at(...square)));
  return view.hand.flatMap((domino) => {
    const moves = [];
    for (const square of squaresOf(domino)) {
      const stone = stoneOn(...square);
      const isPrey = domino[0] === 0 && stone !== view.stone && !unbreakable.has(at(...square));
      if (stone === ".") moves.push([worth(stoneOn, ...square), { action: "add", domino, square }]);
      else if (isPrey) moves.push([worth(stoneOn, ...square), { action: "remove", domino, square }]);
    }
    return moves.length ? moves : [[-1, { action: "discard", domino }]]; // only an unplayable domino may be discarded
  });
}

// --- quincala: place the pieces of the hand, then move a tower leg by leg

const sizes = (pieces) => new Set(pieces.map((piece) => piece[1]));

// The aim: how many sizes of a colour are in towers of both colours?
function mixed(board, color) {
  const towers = [...board.values()].filter((tower) => new Set(tower.map((piece) => piece[0])).size === 2);
  return sizes(towers.flat().filter((piece) => piece[0] === color)).size;
}

function* legs({ view, board, own, other }, [row, column], moving) {
  const immune = new Map(view.immune.map(([r, c, pieces]) => [at(r, c), sizes(pieces)]));
  for (const [down, right] of STEPS) {
    for (let step = 1; step <= moving.length; step++) {
      const end = [row + step * down, column + step * right];
      const dot = view.layout[end[0] - 1]?.[end[1] - 1];
      if (dot === undefined || dot === " ") break; // a leg stays within the playing area
      const tower = board.get(at(...end)) ?? [];
      if (!moving.some((piece) => immune.get(at(...end))?.has(piece[1]))) {
        const after = new Map(board);
        after.set(at(row, column), board.get(at(row, column)).filter((piece) => !moving.includes(piece)));
        after.set(at(...end), [...tower.filter((piece) => !sizes(moving).has(piece[1])), ...moving]);
        yield [2 * (mixed(after, own) - mixed(after, other)), { action: "leg", start: [row, column], end }];
      }
      if (tower.length) break; // it may end on a tower, but not cross one
    }
  }
}

function quincala(view) {
  const [own, other] = view.seat === 0 ? "wb" : "bw";
  const board = new Map(view.board.map(([row, column, pieces]) => [at(row, column), pieces]));
  const table = { view, board, own, other };
  if (view.phase === "place") {
    const moves = [];
    view.layout.forEach((line, r) => [...line].forEach((dot, c) => {
      if ((dot !== own && dot !== "x") || board.has(at(r + 1, c + 1))) return;
      const forward = view.seat === 0 ? r : -r; // pieces meet near the other player
      for (const piece of new Set(view.hands[view.seat])) {
        moves.push([forward, { action: "place", piece, dot: [r + 1, c + 1] }]);
      }
    }));
    return moves;
  }
  if (view.phase === "move") {
    const whole = view.board.filter(([, , pieces]) => pieces.every((piece) => piece[0] === own));
    return whole.flatMap(([row, column, pieces]) => [...legs(table, [row, column], pieces)]);
  }
  const start = view.path.at(-1);
  const mine = board.get(at(...start)).filter((piece) => piece[0] === own); // the smallest one first
  const stop = [2 * (mixed(board, own) - mixed(board, other)) + 1, { action: "stop" }]; // so it goes on only for a gain
  return [stop, ...legs(table, start, mine.slice(0, -1))];
}

// --- quadominos: lay a tile whose corners agree with all corners that they meet

const total = (tile) => [...tile].reduce((sum, digit) => sum + Number(digit), 0);
const cornersOf = (row, column) => [[row, column], [row, column + 1], [row + 1, column + 1], [row + 1, column]];

function quadominos(view) {
  if (view.step === "open") { // with the highest quad, or with the quad-zero, which earns points and two more tiles
    const quads = view.hand.filter((tile) => tile === tile[0].repeat(4)).sort();
    const due = quads.filter((tile) => tile === quads.at(-1) || tile === "0000");
    return due.map((tile) => [total(tile) || 25, lay(0, 0, tile)]);
  }
  if (view.step === "bonus") return [[25, { action: "points" }]]; // two more tiles may score more: try it
  const numbers = new Map(); // at each corner of a tile on the table: cell (row, column) is at its bottom right
  for (const [row, column, tile] of view.board) {
    cornersOf(row, column).forEach((corner, i) => numbers.set(at(...corner), tile[i]));
  }
  const moves = view.step === "extra" ? [[-1, { action: "done" }]] : [];
  for (const [row, column] of freeCells(new Map(view.board.map((cell) => [at(cell[0], cell[1]), cell])))) {
    const wanted = cornersOf(row, column).map((corner) => numbers.get(at(...corner)));
    const bonus = view.step === "lay" && wanted.filter(Boolean).length >= 3 ? 25 : 0;
    for (const tile of view.hand) {
      for (const turned of new Set([0, 1, 2, 3].map((i) => tile.slice(i) + tile.slice(0, i)))) {
        const agrees = wanted.every((number, i) => number === undefined || number === turned[i]);
        if (agrees) moves.push([total(tile) + bonus, lay(row, column, turned)]);
      }
    }
  }
  return moves;
}

const lay = (row, column, tile) => ({ action: "lay", row, column, tile });

module.exports = { q, quincy, quincala, quadominos };
