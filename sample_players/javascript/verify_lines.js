// Reads the lines of a record as docs/reference/record-lines.md gives them: one form of JSON, numbers and chain,
// hidden values. A Finding is what does not hold.
"use strict";
const { sha256 } = require("./shuffle.js");

class Finding extends Error { // of the line with this `n`, which counts from 0; null for the file as a whole
  constructor(line, text) {
    super(text);
    this.line = line;
  }
}
const hex = (...parts) => sha256(...parts).toString("hex");

function numberForm(number) { // the one form of a number that is no integer
  if (Object.is(number, -0)) return "-0.0";
  const exponent = Number(number.toExponential().split("e")[1]);
  if (exponent < -5 || exponent > 15) return number.toExponential().replace("e+", "e");
  return Number.isInteger(number) ? `${number}.0` : String(number);
}

class JsonReader { // of a text in the one form; knows where the elements of arrays stand, and the text's own key `open`
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.openFrom = text.length; // where `,"open":` begins
    this.spans = new WeakMap(); // array -> [from, to] of each element
    this.whole = this.value(true);
    if (this.at !== text.length) this.fail("something behind its end");
  }
  fail(what) {
    throw new Error(`${what}, at character ${this.at}`);
  }
  take(pattern) { // a sticky one
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }
  expect(sign) {
    if (this.text[this.at++] !== sign) this.fail(`not in the one form of JSON: no ${sign}`);
  }
  value(isWhole = false) {
    const first = this.text[this.at];
    if (first === "{") return this.object(isWhole);
    if (first === "[") return this.array();
    if (first === '"') return this.string();
    const word = this.take(/true|false|null/y);
    return word ? JSON.parse(word) : this.number();
  }
  number() {
    const digits = this.take(/-?\d+(\.\d+)?([eE][+-]?\d+)?/y) ?? this.fail("no value");
    const number = Number(digits);
    const isFloat = /[.eE]/.test(digits) && Number.isFinite(number) && numberForm(number) === digits;
    const fits = (integer) => integer >= -(2n ** 63n) && integer < 2n ** 64n;
    const isInteger = /^(0|-?[1-9]\d{0,19})$/.test(digits) && fits(BigInt(digits));
    return isFloat || isInteger ? number : this.fail(`${digits} is not the one form of a number`);
  }
  string() {
    const quoted = this.take(/"(?:[^"\\\x00-\x1f]|\\.)*"/y) ?? this.fail("no string");
    const text = JSON.parse(quoted);
    const isRight = JSON.stringify(text) === quoted && !/\p{Surrogate}/u.test(text);
    return isRight ? text : this.fail(`${quoted.slice(0, 40)} is not the one form of that string`);
  }
  parts(begin, end, readPart) { // of an array or an object
    this.expect(begin);
    for (let count = 0; this.text[this.at] !== end; count++) {
      const from = this.at;
      if (count) this.expect(",");
      readPart(from);
    }
    this.expect(end);
  }
  array() {
    const [items, spans] = [[], []];
    this.parts("[", "]", () => {
      const from = this.at;
      items.push(this.value());
      spans.push([from, this.at]);
    });
    this.spans.set(items, spans);
    return items;
  }
  object(isWhole) {
    const found = Object.create(null); // so that no key means anything
    this.parts("{", "}", (from) => {
      const key = this.string();
      if (key in found || (isWhole && "open" in found)) this.fail(`the key ${key} twice, or behind open`);
      if (isWhole && key === "open") this.openFrom = from;
      this.expect(":");
      found[key] = this.value();
    });
    return found;
  }
  textOf(array, index) {
    return this.text.slice(...this.spans.get(array)[index]);
  }
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function readLine(text) { // -> its fields with what is hidden put in its place, its core and hash, its entries by path
  const reader = new JsonReader(text);
  if (!isObject(reader.whole)) throw new Error("no object");
  const { open, ...fields } = reader.whole;
  if (open !== undefined && !(isObject(open) && Object.keys(open).length)) throw new Error("open holds nothing");
  const core = open === undefined ? text : `${text.slice(0, reader.openFrom)}}`;
  const entries = open ?? {};
  for (const path of Object.keys(entries)) putBack(fields, path, entries[path], reader);
  return { fields, hash: hex(core), entries, core };
}

function putBack(fields, path, entry, reader) { // an entry of `open`, once its hash is right
  const keys = path.split(".");
  const last = keys.pop();
  const holder = keys.reduce((inner, key) => inner?.[key], fields);
  const place = holder?.[last];
  if (!Array.isArray(entry) || entry.length < 2 || entry.length > 3 || !/^[0-9a-f]{32}$/.test(entry[0])) {
    throw new Error(`the entry of ${path} is neither salt and value nor salt, digest and view`);
  }
  if (!isObject(place) || Object.keys(place).join() !== "hidden" || place.hidden !== hex(entry[0], reader.textOf(entry, 1))) {
    throw new Error(`${path} is not what the line holds the hash of`);
  }
  if (entry.length === 3 && hex(packed(entry[2])) !== entry[1]) {
    throw new Error(`${path} shows another view than that of the digest`);
  }
  holder[last] = entry[1];
}

// --- chain

function readChain(data) { // bytes of a file -> its lines; what is wrong with the first one that does not hold is thrown
  const lines = [];
  let prev = "0".repeat(64);
  let from = 0;
  for (let end = data.indexOf(10); end >= 0; from = end + 1, end = data.indexOf(10, from)) {
    const line = attempt(lines.length, () => readLine(textOf(data, from, end)));
    const { n, prev: told } = line.fields;
    if (n !== lines.length) throw new Finding(lines.length, `its number is ${n}, not ${lines.length}`);
    if (told !== prev) throw unlinked(textOf(data, from, end), told, prev, n, nextPrev(data, end + 1));
    prev = line.hash;
    lines.push(line);
  }
  return { lines, isTorn: from < data.length };
}

const textOf = (data, from, end) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data.subarray(from, end));

function nextPrev(data, from) { // what the line that begins there names as the hash of the one before it; null if there is none
  try {
    return readLine(textOf(data, from, data.indexOf(10, from))).fields.prev;
  } catch {
    return null;
  }
}

function unlinked(text, told, prev, n, following) { // the line that was changed: the one before, or `prev` of this one alone
  const restored = readLine(text.replace(`"prev":${JSON.stringify(told)}`, `"prev":"${prev}"`));
  if (!n || following === restored.hash) return new Finding(n, "it does not hold the hash of the line before it: the chain is broken");
  return new Finding(n - 1, `line ${n} holds another hash of it, ${told}: the chain is broken`);
}

function attempt(line, work) { // whatever a hostile line makes fail is a finding of that line
  try {
    return work();
  } catch (error) {
    if (error instanceof Finding) throw error;
    throw new Finding(line, `it has not the form of such a line: ${error.message}`);
  }
}

// --- hidden values

const OF_EVENTS = {
  "ready-received": ["frame"], "nonce-received": ["frame"], "move-received": ["frame", "move"], "ack-received": ["frame"],
  "deadline-passed": ["pending"], "protocol-broken": ["detail", "evidence"], "connection-lost": ["detail"],
  "program-exited": ["status"], "seat-vacant": ["detail", "evidence"],
};
const OF_COMMANDS = { "start-seat": "view", "ask-move": "view", "resume-seat": "view", "tell-seat": "draws" };

function hiddenPlaces({ kind, setup, event, commands, result, ...rest }) { // -> [path, seat or null], as in `open`
  const places = [];
  const add = (path, holder, names, seat) => {
    for (const name of names) {
      if ((holder[name] ?? null) !== null) places.push([path ? `${path}.${name}` : name, seat]);
    }
  };
  const addFouls = (path, fouls) =>
    fouls.forEach((foul, i) => add(`${path}.${i}`, foul, ["detail", "evidence"], foul.seat));
  if (kind === "header") {
    add("", rest, ["seed", "programs", "folder"], null);
    add("setup", setup, ["position"], null);
  } else if (kind === "result") {
    add("", rest, ["seed"], null);
    addFouls("result.fouls", result.fouls);
  } else if (kind === "step") {
    add("event", event, OF_EVENTS[event.event] ?? [], event.seat);
    commands.forEach((command, i) => {
      if (command.foul) add(`commands.${i}.foul`, command.foul, ["detail", "evidence"], command.seat);
      else if (command.result) addFouls(`commands.${i}.result.fouls`, command.result.fouls);
      else add(`commands.${i}`, command, [OF_COMMANDS[command.command]].filter(Boolean), command.seat);
    });
  }
  return places;
}

// --- msgpack

function packed(value) { // in its shortest form; no view of this project has a number that is no integer
  if (value === null) return Buffer.from([0xc0]);
  if (typeof value === "boolean") return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === "number") return packedInteger(BigInt(value));
  if (typeof value === "string") {
    const text = Buffer.from(value);
    return Buffer.concat([packedSize(text.length, 0xa0, 32, [0xd9, 0xda, 0xdb]), text]);
  }
  if (Array.isArray(value)) {
    return Buffer.concat([packedSize(value.length, 0x90, 16, [null, 0xdc, 0xdd]), ...value.map(packed)]);
  }
  const pairs = Object.entries(value);
  return Buffer.concat([packedSize(pairs.length, 0x80, 16, [null, 0xde, 0xdf]), ...pairs.flat().map(packed)]);
}

function packedSize(size, first, limit, [one, two, four]) { // in the first byte, or behind it in 1, 2 or 4
  if (size < limit) return Buffer.from([first | size]);
  if (size < 256 && one) return Buffer.from([one, size]);
  if (size < 65536) return Buffer.from([two, size >> 8, size & 255]);
  return Buffer.from([four, size >>> 24, (size >> 16) & 255, (size >> 8) & 255, size & 255]);
}

function packedInteger(number) {
  if (number >= -32n && number < 128n) return Buffer.from([Number(number & 255n)]);
  const bits = number < 0n ? -number * 2n - 1n : number;
  const power = [8n, 16n, 32n, 64n].findIndex((width) => bits < 1n << width); // of the number of bytes
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt.asIntN(64, number));
  return Buffer.concat([Buffer.from([(number < 0n ? 0xd0 : 0xcc) + power]), bytes.subarray(8 - 2 ** power)]);
}

module.exports = { Finding, JsonReader, attempt, hex, hiddenPlaces, numberForm, packed, readChain, readLine };
