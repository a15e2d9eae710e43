// Checks the referee's chance without any code of the referee's; shuffle.js, next to this file, does the work.
//   node check_shuffle.js vectors.json     redoes every vector of chance in protocol/vectors.json
//   node check_shuffle.js RECORD.jsonl     checks the commitments of a finished match, the referee's and the players',
//                                          and prints its deal, of Quad-Ominos that of the first round
// Exit status: 0 all holds, 1 something does not, 2 used wrongly or not readable.
"use strict";
const { readFileSync } = require("node:fs");
const { isDeepStrictEqual } = require("node:util");
const {
  sha256, commitment, nonceCommitment, derive, shuffleKey, laterKey, wordsOf, below, shuffled, DECKS, deal, dealHands,
} = require("./shuffle.js");

const digest = (tiles) => sha256(tiles.join(" ")).toString("hex");
const spell = (word) => word.toString(16).padStart(16, "0");

const REDO = { // section of the vectors -> a vector made again from its inputs
  seeds: ({ number }) => ({ number, seed: sha256(String(number)).toString("hex") }),
  derived: ({ seed, purpose }) => ({ seed, purpose, derived: derive(seed, purpose) }),
  seatings: ({ seed, names }) => ({ seed, names, seats: shuffled(Buffer.from(derive(seed, "seating"), "hex"), names) }),
  commitments({ match, seat, nonce }) {
    return { match, seat, nonce, commitment: nonceCommitment(match, seat, nonce) };
  },
  decks: ({ game }) => ({ game, tiles: DECKS[game].length, sha256: digest(DECKS[game]) }),
  deals({ name, seed, nonces, below: draws, shuffled: lists }) {
    const key = shuffleKey(seed, nonces);
    const stream = wordsOf(key);
    const words = Array.from({ length: 8 }, () => spell(stream.next().value));
    const fresh = wordsOf(key); // all draws of a vector come from one stream, one after another
    const redrawn = draws.map(({ bound }) => {
      const thrownAway = [];
      const drawn = String(below(fresh, BigInt(bound), thrownAway));
      return { bound, drawn, thrown_away: thrownAway.map(spell) };
    });
    const { deck, hands, table } = deal(key, nonces.length);
    const q = { sha256: digest(deck), first: deck.slice(0, 25), hands, table };
    const reshuffled = lists.map(([before]) => [before, shuffled(key, before)]); // each list from a stream of its own
    const found = { words, below: redrawn, shuffled: reshuffled, q };
    return { name, seed, nonces, commitment: commitment(seed), key: key.toString("hex"), ...found };
  },
  dealt({ game, seed, nonces, deal: number }) {
    const key = laterKey(shuffleKey(seed, nonces), number);
    const { deck, hands, rest } = dealHands(game, key, nonces.length);
    const found = { key: key.toString("hex"), sha256: digest(deck), hands, next: rest.slice(0, 5) };
    return { game, seed, nonces, deal: number, ...found };
  },
};

function checkVectors({ chance }) {
  const pairs = Object.keys(REDO).flatMap((section) => chance[section].map((one) => [one, REDO[section](one)]));
  const failed = pairs.filter(([expected, found]) => !isDeepStrictEqual(expected, found));
  failed.forEach(([expected, found]) => console.error("expected", expected, "found", found));
  console.log(`${pairs.length - failed.length} passed, ${failed.length} failed`);
  return pairs.length > 0 && failed.length === 0;
}

function openSeed({ seed, open }) { // the line has a hash of it, and behind it salt and value
  if (!seed?.hidden || !open?.seed) throw new Error("the seed is hidden: a redacted record can't be checked");
  const [salt, value] = open.seed;
  return { seed: value, isTrue: sha256(salt, JSON.stringify(value)).toString("hex") === seed.hidden };
}

// Tells whether every nonce that counts is the one that its seat committed to last.
function areOpened({ match }, { nonces }, lines) {
  const committed = {};
  lines.filter(({ event }) => event?.event === "ready-received")
    .forEach(({ event }) => { committed[event.seat] = event.commitment; });
  const wrong = nonces.flatMap((nonce, seat) =>
    (nonce === null || nonceCommitment(match, seat, nonce) === committed[seat] ? [] : [seat]));
  wrong.forEach((seat) => console.log(`the nonce of seat ${seat} IS NOT THE ONE that it committed to`));
  return wrong.length === 0;
}

function checkRecord(lines) {
  const setup = lines.find((line) => line.kind === "header")?.setup;
  const result = lines.find((line) => line.kind === "result"); // the line before the seal
  if (!setup || !result) throw new Error("not the record of a finished match: no header, or no result");
  const { names, game, position } = setup;
  const seats = names.length;
  const { seed, isTrue } = openSeed(result);
  const isKept = commitment(seed) === setup.commitment && result.nonces.length === seats;
  if (!isTrue) console.log(`the seed IS NOT THE ONE that the line's hash stands for: ${result.seed.hidden}`);
  console.log(`the commitment ${isKept ? "was kept" : "WAS BROKEN"}: ${setup.commitment}`);
  const isOpened = areOpened(setup, result, lines);
  if (!DECKS[game] || position) {
    console.log("nothing to deal: a game without chance, one that is not known here, or a given position");
  } else {
    const key = shuffleKey(seed, result.nonces);
    const { hands, table } = game === "q" ? deal(key, seats) : dealHands(game, key, seats);
    hands.forEach((hand, seat) => console.log(`seat ${seat} ${names[seat]}: ${hand.join(" ")}`));
    if (table) console.log(`table: ${table}`);
  }
  return isTrue && isKept && isOpened;
}

try {
  if (process.argv.length !== 3) throw new Error("usage: node check_shuffle.js vectors.json|RECORD.jsonl");
  const path = process.argv[2];
  const text = readFileSync(path, "utf8");
  const linesOf = (record) => record.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const holds = path.endsWith(".jsonl") ? checkRecord(linesOf(text)) : checkVectors(JSON.parse(text));
  process.exitCode = holds ? 0 : 1;
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
