// The referee's shuffle, redone from SHA-256 alone. protocol/SPEC.md, "Chance", says in words what stands here.
// Words have 64 bits, and a number of JavaScript is exact to 53 only. So they are BigInt, written 1n.
"use strict";
const { createHash } = require("node:crypto");

function sha256(...parts) { // of bytes, and of text in UTF-8, one behind the other
  return parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
}
function bytes(hex) {
  if (!/^([0-9a-f]{2})*$/.test(hex)) throw new Error(`not in hex: ${hex}`); // Buffer would just cut it off there
  return Buffer.from(hex, "hex");
}
const commitment = (seed) => sha256(bytes(seed)).toString("hex");
const nonceCommitment = (match, seat, nonce) => sha256(`nonce:${match}:${seat}:${nonce}`).toString("hex");
const derive = (seed, purpose) => sha256(bytes(seed), purpose).toString("hex");
const shuffleKey = (seed, nonces) => sha256(bytes(seed), nonces.map((nonce) => ":" + (nonce ?? "")).join(""));

function* wordsOf(key) { // endless: block 0, 1, 2, ... is the SHA-256 of key and number, and holds four words
  for (let number = 0n; ; number++) {
    const counter = Buffer.alloc(8);
    counter.writeBigUInt64BE(number);
    const block = sha256(key, counter);
    for (let offset = 0; offset < 32; offset += 8) yield block.readBigUInt64BE(offset);
  }
}

function below(words, bound, thrownAway = []) { // a number from 0 to bound - 1, all equally likely
  const limit = 2n ** 64n - (2n ** 64n % bound); // the words from here on would favour small numbers
  let word = words.next().value;
  for (; word >= limit; word = words.next().value) thrownAway.push(word);
  return word % bound;
}

function shuffled(key, items) { // Fisher-Yates: from the last item down, each swaps with itself or one before it
  const words = wordsOf(key);
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Number(below(words, BigInt(i + 1)));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}

const COLOURS = ["red", "green", "blue", "yellow", "orange", "purple"];
const SHAPES = ["star", "8star", "square", "circle", "clover", "diamond"];
const DECK = SHAPES.flatMap((shape) => COLOURS.flatMap((colour) => Array(30).fill(`${colour}-${shape}`)));

function deal(key, seats) { // of Q: six tiles from the front for each seat in turn, the next one for the table
  const deck = shuffled(key, DECK);
  const hands = Array.from({ length: seats }, (_, seat) => deck.slice(6 * seat, 6 * seat + 6));
  return { deck, hands, table: deck[6 * seats] };
}

const upTo = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => first + i);
const DOMINOES = upTo(0, 9).flatMap((low) => upTo(low, 9).map((high) => `${low}-${high}`));
const QUADS = upTo(0, 5555).map((number) => String(number).padStart(4, "0")) // ascending digits from 0 to 5
  .filter((name) => /^0*1*2*3*4*5*$/.test(name) && name !== "0245");
const DECKS = { q: DECK, quincy: DOMINOES, quadominos: QUADS };
const HAND_SIZES = { quincy: () => 5, quadominos: (seats) => ({ 2: 30, 3: 20, 4: 15, 5: 12 })[seats] ?? 10 };

const laterKey = (key, number) => (number ? sha256(key, `deal:${number}`) : key); // of the deals behind the first

function dealHands(game, key, seats) { // of another game than Q: hand after hand from the front
  const deck = shuffled(key, DECKS[game]);
  const size = HAND_SIZES[game](seats);
  const hands = Array.from({ length: seats }, (_, seat) => deck.slice(size * seat, size * (seat + 1)));
  return { deck, hands, rest: deck.slice(size * seats) };
}

module.exports = {
  sha256, commitment, nonceCommitment, derive, shuffleKey, laterKey, wordsOf, below, shuffled, DECKS, deal, dealHands,
};
