// The wire: turns bytes into messages and messages into bytes, and answers the referee's messages.
// It follows protocol/SPEC.md, and knows no game. You need not change anything here.
"use strict";
const { createHash, randomBytes } = require("node:crypto");
const { connect } = require("node:net");

const MAX_FRAME_BYTES = 4 * 1024 * 1024; // SPEC.md, "Limits": the longest body from the referee
const MAX_DEPTH = 16;

// --- values -> bytes: the part of msgpack that the protocol allows

function head(tag, width, number) { // a tag byte, then an unsigned integer, the most significant byte first
  const bytes = Buffer.alloc(1 + width);
  bytes[0] = tag;
  bytes.writeUIntBE(number, 1, width);
  return bytes;
}

function encodeInteger(value) {
  if (value >= 0) return value < 128 ? Buffer.from([value]) : head(0xce, 4, value);
  if (value >= -32) return Buffer.from([256 + value]);
  const bytes = Buffer.from([0xd2, 0, 0, 0, 0]);
  bytes.writeInt32BE(value, 1);
  return bytes;
}

function encodeNumber(value) { // integers of more than 32 bits go as floats: no move needs one
  if (Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 32) return encodeInteger(value);
  const bytes = Buffer.from([0xcb, 0, 0, 0, 0, 0, 0, 0, 0]);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

function encodeString(text) {
  const bytes = Buffer.from(text, "utf8");
  const size = bytes.length < 32 ? Buffer.from([0xa0 | bytes.length]) : head(0xda, 2, bytes.length);
  return Buffer.concat([size, bytes]);
}

function encode(value) {
  if (value === null || value === undefined) return Buffer.from([0xc0]);
  if (typeof value === "boolean") return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === "number") return encodeNumber(value);
  if (typeof value === "string") return encodeString(value);
  if (Array.isArray(value)) return Buffer.concat([head(0xdc, 2, value.length), ...value.map(encode)]);
  const pairs = Object.entries(value);
  return Buffer.concat([head(0xde, 2, pairs.length), ...pairs.flat().map(encode)]);
}

function frame(message) {
  const body = encode(message);
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(body.length);
  return Buffer.concat([prefix, body]);
}

// --- bytes -> values

function reader(bytes) {
  let at = 0;
  const take = (count) => {
    if (at + count > bytes.length) throw new Error("a value ends too early: only a part of the frame was read");
    at += count;
    return bytes.subarray(at - count, at);
  };
  const unsigned = (width) => (width === 8 ? Number(take(8).readBigUInt64BE()) : take(width).readUIntBE(0, width));
  const signed = (width) => (width === 8 ? Number(take(8).readBigInt64BE()) : take(width).readIntBE(0, width));
  const string = (count) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(take(count));
  const array = (count, depth) => {
    const items = [];
    for (let i = 0; i < count; i++) items.push(value(depth));
    return items;
  };
  const map = (count, depth) => {
    const pairs = [];
    for (let i = 0; i < count; i++) {
      const key = value(depth);
      if (typeof key !== "string") throw new Error("a key is not a string");
      pairs.push([key, value(depth)]);
    }
    return Object.fromEntries(pairs);
  };
  const value = (depth) => {
    const tag = unsigned(1);
    if (tag < 0x80) return tag;
    if (tag >= 0xe0) return tag - 256;
    if (tag >= 0xa0 && tag < 0xc0) return string(tag & 0x1f);
    if (tag >= 0xcc && tag <= 0xcf) return unsigned(1 << (tag - 0xcc));
    if (tag >= 0xd0 && tag <= 0xd3) return signed(1 << (tag - 0xd0));
    if (tag >= 0xd9 && tag <= 0xdb) return string(unsigned(1 << (tag - 0xd9)));
    switch (tag) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xca: return take(4).readFloatBE();
      case 0xcb: return take(8).readDoubleBE();
    }
    if (depth === MAX_DEPTH) throw new Error("arrays and maps are nested too deep");
    if (tag < 0x90) return map(tag & 0x0f, depth + 1);
    if (tag < 0xa0) return array(tag & 0x0f, depth + 1);
    if (tag === 0xdc || tag === 0xdd) return array(unsigned(tag === 0xdc ? 2 : 4), depth + 1);
    if (tag === 0xde || tag === 0xdf) return map(unsigned(tag === 0xde ? 2 : 4), depth + 1);
    throw new Error(`no value of the protocol begins with the byte 0x${tag.toString(16)}`);
  };
  return { value: () => value(0), isDone: () => at === bytes.length };
}

function decode(body) {
  const { value, isDone } = reader(body);
  const message = value();
  if (!isDone()) throw new Error("there are bytes after the value");
  if (message === null || typeof message !== "object" || Array.isArray(message)) throw new Error("no map");
  return message;
}

// Cuts complete frames off the received bytes; returns their messages and the bytes that are left.
function messagesIn(bytes) {
  const messages = [];
  while (bytes.length >= 4) {
    const length = bytes.readUInt32BE();
    if (length === 0 || length > MAX_FRAME_BYTES) throw new Error(`a frame of ${length} bytes`);
    if (bytes.length < 4 + length) break;
    messages.push(decode(bytes.subarray(4, 4 + length)));
    bytes = bytes.subarray(4 + length);
  }
  return { messages, rest: bytes };
}

// --- the conversation

// Returns the messages that answer a message. `choose` is called with the game's name and the view.
function answers(message, state, choose) {
  const { type, match } = message;
  const found = [];
  if (type === "refused") throw new Error(`the referee refuses this player: ${message.reason} (${message.code})`);
  if (type === "offer" || type === "resumed") state.game = message.game;
  if (type === "offer") {
    state.nonce = randomBytes(16).toString("hex"); // nobody may foresee it, not even the referee
    const commitment = createHash("sha256").update(`nonce:${match}:${message.seat}:${state.nonce}`).digest("hex");
    found.push({ type: "ready", match, commitment });
  }
  if (type === "reveal") found.push({ type: "nonce", match, nonce: state.nonce }); // all players have committed
  if (type === "turn") found.push({ type: "move", match, turn: message.turn, move: choose(state.game, message.view) });
  if (type === "expelled") console.error(`expelled: ${message.foul} ${message.rule ?? ""} ${message.detail}`);
  if (Number.isInteger(message.ack)) found.push({ type: "ack", match, ack: message.ack });
  return found; // `told`, `end` and `paused` need no other answer
}

function whereTo(address) {
  const tcp = /^tcp:\[?(.+?)\]?:(\d+)$/.exec(address);
  if (tcp) return { host: tcp[1], port: Number(tcp[2]) };
  if (/^unix:./.test(address)) return { path: address.slice(5) };
  throw new Error(`REFEREE_ADDRESS is tcp:HOST:PORT or unix:PATH, not ${JSON.stringify(address)}`);
}

// Connects, plays every match that is offered, and ends when the referee closes the connection.
function play(choose) {
  const { REFEREE_ADDRESS: address = "", REFEREE_NAME: name, REFEREE_TOKEN: token } = process.env;
  const state = { game: "", nonce: "" };
  let unread = Buffer.alloc(0);
  let isConnected = false;
  const socket = connect(whereTo(address));
  socket.setNoDelay(true); // a move is one small packet: send it at once
  socket.on("connect", () => {
    isConnected = true;
    socket.write(frame({ type: "hello", version: 1, name: name || "player", token: token || null }));
  });
  socket.on("error", (error) => {
    if (!isConnected) throw new Error(`no referee at ${address}: ${error.message}; is it running?`);
  }); // the end of the connection, even by an error, is the end of the match
  socket.on("data", (bytes) => {
    const { messages, rest } = messagesIn(Buffer.concat([unread, bytes]));
    unread = rest;
    messages.flatMap((message) => answers(message, state, choose)).forEach((one) => socket.write(frame(one)));
  });
}

module.exports = { decode, frame, messagesIn, play };
