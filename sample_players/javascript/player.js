// A player for all four games. To make it yours, replace `choose`.
//   node player.js            plays the best move for this turn
//   node player.js random     plays any legal move
//   node player.js echo       for tests: reads frames in hex, line by line, and writes them back, or an error
"use strict";
const { createInterface } = require("node:readline");
const games = require("./games.js");
const { frame, messagesIn, play } = require("./wire.js");

const STRATEGY = process.argv[2] ?? "heuristic";

// A random number from 0 to 1. Matches with the same seed get the same numbers, so that a match can be repeated.
let state = parseInt((process.env.REFEREE_PLAYER_SEED ?? "").slice(0, 8), 16) || Date.now() >>> 0;
function chance() { // mulberry32, by Tommy Ettinger
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

// Returns the move to play. This is the function to replace.
//   game: name of the game: "q", "quincy", "quincala" or "quadominos"
//   view: all that this seat may know, as the referee sent it
function choose(game, view) {
  const moves = games[game](view);
  const best = Math.max(...moves.map(([value]) => value));
  const taken = STRATEGY === "random" ? moves : moves.filter(([value]) => value === best);
  return taken[Math.floor(chance() * taken.length)][1];
}

function echo(line) {
  try {
    const { messages, rest } = messagesIn(Buffer.from(line, "hex"));
    if (rest.length || messages.length !== 1) throw new Error("not one whole frame");
    console.log(frame(messages[0]).toString("hex"));
  } catch (error) {
    console.log(`error: ${error.message}`);
  }
}

if (STRATEGY === "echo") createInterface({ input: process.stdin }).on("line", echo);
else if (["heuristic", "random"].includes(STRATEGY)) play(choose);
else {
  console.error(`the strategy is heuristic or random, not ${JSON.stringify(STRATEGY)}`);
  process.exit(2);
}
