// Judges the bytes that a record keeps once more, as docs/reference/record-checks.md, "Evidence", says: which breach of the
// wire they are, or which answer; on the wire of protocol/SPEC.md.
"use strict";
const { Finding } = require("./verify_lines.js");

const MAX_BODY_BYTES = 65536;
const MAX_UNASKED_BYTES = 4096;
const MAX_DEPTH = 16;
const MAX_LENGTH = 4096; // of strings in bytes, of arrays and maps in items
const PREFIXES = ["oversize", "empty", "flood"];
const VALUES = ["not-msgpack", "key-not-string", "duplicate-key", "type-not-allowed", "not-finite", "too-deep", "too-long"];
const MESSAGES = ["not-a-map", "unknown-type", "missing-key", "extra-key", "wrong-type"];
const CODES = [...PREFIXES, "truncated", ...VALUES, ...MESSAGES, "wrong-match", "not-reading", "out-of-turn"];
const ASKS = { "offer-match": "ready", "ask-nonce": "nonce", "ask-move": "move" }; // every other limit is an ack's

// --- bytes

class Unreadable extends Error {}

class Reader { // of a body: the value, and every code that fits to what is wrong with it
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.codes = new Set();
    this.floats = new Set(); // keys of the message whose values are floats
  }
  static read(bytes) {
    const reader = new Reader(bytes);
    try {
      reader.value = reader.next(0);
      if (reader.at !== bytes.length) reader.codes.add("not-msgpack");
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      reader.codes.add("not-msgpack");
    }
    return reader;
  }
  take(count) {
    if (this.at + count > this.bytes.length) throw new Unreadable();
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
  size(width) {
    return this.take(width).readUIntBE(0, width);
  }
  next(depth, key) {
    const tag = this.take(1)[0];
    if (tag < 0x80) return tag;
    if (tag >= 0xe0) return tag - 256;
    if (tag < 0x90) return this.map(tag & 15, depth);
    if (tag < 0xa0) return this.array(tag & 15, depth);
    if (tag < 0xc0) return this.string(tag & 31);
    if (tag === 0xc0 || tag === 0xc2 || tag === 0xc3) return [null, undefined, false, true][tag - 0xc0];
    if (tag === 0xca || tag === 0xcb) return this.float(tag === 0xca ? 4 : 8, key);
    if (tag >= 0xcc && tag <= 0xce) return this.size(1 << (tag - 0xcc));
    if (tag === 0xcf) return Number(this.take(8).readBigUInt64BE());
    if (tag >= 0xd0 && tag <= 0xd2) return this.take(1 << (tag - 0xd0)).readIntBE(0, 1 << (tag - 0xd0));
    if (tag === 0xd3) return Number(this.take(8).readBigInt64BE());
    if (tag >= 0xd9 && tag <= 0xdb) return this.string(this.size(1 << (tag - 0xd9)));
    if (tag === 0xdc || tag === 0xdd) return this.array(this.size(tag === 0xdc ? 2 : 4), depth);
    if (tag === 0xde || tag === 0xdf) return this.map(this.size(tag === 0xde ? 2 : 4), depth);
    return this.other(tag);
  }
  other(tag) { // raw bytes and ext types
    if (tag === 0xc1) throw new Unreadable();
    this.codes.add("type-not-allowed");
    const isExt = tag >= 0xc7;
    const count = tag >= 0xd4 ? 1 << (tag - 0xd4) : this.size(1 << (tag - (isExt ? 0xc7 : 0xc4)));
    this.limit(count);
    this.take(count + isExt);
    return undefined;
  }
  limit(count) {
    if (count > MAX_LENGTH) this.codes.add("too-long");
  }
  float(width, key) {
    const value = width === 4 ? this.take(4).readFloatBE() : this.take(8).readDoubleBE();
    if (!Number.isFinite(value)) this.codes.add("not-finite");
    if (key !== undefined) this.floats.add(key);
    return value;
  }
  string(count) {
    this.limit(count);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(this.take(count));
    } catch {
      throw new Unreadable();
    }
  }
  enter(count, depth) {
    this.limit(count);
    if (depth < MAX_DEPTH) return;
    this.codes.add("too-deep");
    if (depth > 8 * MAX_DEPTH) throw new Unreadable(); // what is wrong with it is known
  }
  array(count, depth) {
    this.enter(count, depth);
    const found = [];
    for (let i = 0; i < count; i++) found.push(this.next(depth + 1));
    return found;
  }
  map(count, depth) {
    this.enter(count, depth);
    const found = new Map();
    for (let i = 0; i < count; i++) {
      const key = this.next(depth + 1);
      if (typeof key !== "string") this.codes.add("key-not-string");
      if (found.has(key)) this.codes.add("duplicate-key");
      found.set(key, this.next(depth + 1, depth ? undefined : key));
    }
    return Object.fromEntries(found);
  }
}

// --- messages

const isCount = (value, isFloat) => Number.isInteger(value) && !isFloat && value >= 0 && value <= 2 ** 53;
const isText = (least, most) => (value) => typeof value === "string" && [...value].length >= least && [...value].length <= most;
const isHex = (digits) => (value) => typeof value === "string" && value.length === digits && /^[0-9a-f]*$/.test(value);
const isName = (value) => typeof value === "string" && /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,19}$/.test(value);
const isMatch = isText(1, 80);
const FORMS = { // type -> key -> whether a value is one
  hello: { version: isCount, name: isName, token: (value) => value === null || isText(0, 128)(value) },
  ready: { match: isMatch, commitment: isHex(64) },
  nonce: { match: isMatch, nonce: isHex(32) },
  move: { match: isMatch, turn: isCount, move: () => true },
  ack: { match: isMatch, ack: isCount },
};

function wrongsOf({ value, codes, floats }) { // -> every code that fits
  if (codes.size) return codes;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return new Set(["not-a-map"]);
  const { type, ...rest } = value;
  const form = typeof type === "string" && Object.hasOwn(FORMS, type) ? FORMS[type] : null;
  if (!form) return new Set(["unknown-type"]);
  const found = new Set();
  for (const [key, isOne] of Object.entries(form)) {
    if (!Object.hasOwn(rest, key)) {
      if (key !== "token") found.add("missing-key");
    } else if (!isOne(rest[key], floats.has(key))) found.add("wrong-type");
  }
  if (Object.keys(rest).some((key) => !Object.hasOwn(form, key))) found.add("extra-key");
  return found;
}

function prefixed(bytes) { // -> what the prefix of a frame announces, or null
  return bytes.length < 4 ? null : bytes.readUInt32BE();
}

function isUnfinished(bytes) {
  const announced = prefixed(bytes);
  return announced === null || (announced > 0 && announced <= MAX_BODY_BYTES && bytes.length < 4 + announced);
}

function isBreach(code, bytes, asked, match) {
  const announced = prefixed(bytes);
  if (code === "not-reading") return !bytes.length;
  if (code === "truncated") return bytes.length > 0 && isUnfinished(bytes);
  if (code === "oversize") return announced > MAX_BODY_BYTES;
  if (code === "empty") return announced === 0;
  if (code === "flood") return announced > MAX_UNASKED_BYTES && announced <= MAX_BODY_BYTES && asked === null;
  if (!bytes.length || bytes.length > MAX_BODY_BYTES) return false;
  const body = Reader.read(bytes);
  const codes = wrongsOf(body);
  if (codes.size) return codes.has(code);
  const isDue = body.value.type === asked;
  return code === "out-of-turn" ? !isDue : code === "wrong-match" && isDue && (body.value.match ?? match) !== match;
}

// --- a record

const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const byKey = ([one], [other]) => (one < other ? -1 : 1);
const inOrder = (value) =>
  JSON.stringify(value, (_, part) => (isMap(part) ? Object.fromEntries(Object.entries(part).sort(byKey)) : part));
const isSame = (one, other) => inOrder(one) === inOrder(other); // whatever the order of their keys

class Evidence {
  constructor({ setup: { match, names } }) { // of a header
    Object.assign(this, { match, names, asked: new Map(), unseated: new Set() });
  }
  take(line, event, commands) {
    const { event: name, seat } = event;
    if (["match-opened", "match-resumed"].includes(name)) this.unseated = new Set(this.names.keys());
    const isOut = commands.some((each) => each.foul && each.seat === seat);
    if (name.endsWith("-received")) this.checkAnswer(line, event, isOut);
    else if (name === "deadline-passed") this.checkRest(line, event.pending);
    else if (name === "seat-vacant") this.checkRest(line, event.evidence);
    else if (name === "program-exited") this.checkEnding(line, event);
    else if (name === "protocol-broken" && isOut) this.checkBreach(line, event);
    this.unseated.delete(seat);
    if (isOut || name.endsWith("-received")) this.asked.delete(seat);
    for (const { command, seat: one, limit_ms: limit } of commands) {
      if ((limit ?? null) !== null && command !== "extend-limit") this.asked.set(one, ASKS[command] ?? "ack");
    }
  }
  checkAnswer(line, { event, seat, frame = "", ...told }, isOut) {
    if (!isOut && frame !== "") throw new Finding(line, `bytes of an answer of seat ${seat} that was taken`);
    if (!isOut || typeof frame !== "string") return; // or it is hidden
    const bytes = bytesOf(line, frame);
    const type = event.replace("-received", "");
    const body = Reader.read(bytes);
    const said = { type, ...Object.fromEntries(Object.keys(FORMS[type]).map((key) => [key, told[key]])), match: this.match };
    const isIt = bytes.length <= MAX_BODY_BYTES && !wrongsOf(body).size && isSame(body.value, said);
    if (!isIt) throw new Finding(line, `the bytes of seat ${seat} are not the answer for which it was expelled`);
  }
  checkRest(line, rest = "") {
    const isFit = typeof rest !== "string" || isUnfinished(bytesOf(line, rest));
    if (!isFit) throw new Finding(line, "the bytes that had come of an answer are a complete one, or none at all");
  }
  checkEnding(line, { status, ending = "failed" }) {
    if (typeof status !== "string") return; // it is hidden
    const how = status.split(": ", 1)[0];
    const hasWords = status.length > how.length + 2;
    const isFit = {
      ended: how === "exit status 0",
      failed: how !== "exit status 0",
      speechless: how !== "exit status 0" && !hasWords,
      "out-of-memory": hasWords,
      stranger: status.includes("its hello had been refused"),
    };
    if (!isFit[ending]) throw new Finding(line, `the ending ${ending} does not fit the status ${status}`);
  }
  checkBreach(line, { seat, code, evidence = "", stage = null }) {
    if (!CODES.includes(code)) throw new Finding(line, `${code} is no code of the wire`);
    if (stage !== null && !this.unseated.has(seat)) throw new Finding(line, `seat ${seat} was seated, and is said to be ${stage}`);
    const ofSeat = this.asked.get(seat) ?? null;
    const asked = stage === null ? ofSeat : stage === "new" ? "hello" : null;
    const isFit = typeof evidence !== "string" || isBreach(code, bytesOf(line, evidence), asked, this.match);
    if (!isFit) throw new Finding(line, `the bytes of seat ${seat} are not ${code}`);
  }
}

function bytesOf(line, text) {
  const bytes = Buffer.from(text, "hex");
  if (bytes.toString("hex") !== text) throw new Finding(line, "bytes that are not in hex");
  return bytes;
}

module.exports = { Evidence, isBreach, isUnfinished };
