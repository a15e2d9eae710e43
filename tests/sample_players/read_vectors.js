// Redoes the vectors for records with the modules of verify.js: node read_vectors.js FOLDER VECTORS
"use strict";
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const [folder, path] = process.argv.slice(2);
const { hex, numberForm, packed, readLine } = require(join(folder, "verify_lines.js"));
const { isBreach } = require(join(folder, "verify_evidence.js"));
const { isSignature } = require(join(folder, "verify.js"));

const sealed = (prev) => `referee record 1\n${prev}`;
const numberOf = (bits) => Buffer.from(bits, "hex").readDoubleBE();
const refuses = (line) => {
  try {
    return !readLine(line);
  } catch {
    return true;
  }
};
const FRAMES = ["oversize", "empty", "truncated"];
const VALUES = ["not-msgpack", "key-not-string", "duplicate-key", "type-not-allowed", "not-finite", "too-deep", "too-long"];
const BREACHES = [...FRAMES, ...VALUES, "not-a-map", "unknown-type", "missing-key", "extra-key", "wrong-type"];
const HOLDS = { // section -> whether a vector of it holds
  numbers: ({ bits, text }) =>
    numberForm(numberOf(bits)) === text && Object.is(readLine(`{"n":${text}}`).fields.n, numberOf(bits)),
  texts: ({ value, text }) => readLine(`{"n":${text}}`).fields.n === value,
  hidden({ salt, value, hash }) {
    const core = `{"n":{"hidden":"${hash}"}}`;
    return readLine(`${core.slice(0, -1)},"open":{"n":["${salt}",${value}]}}`).hash === hex(core);
  },
  views: ({ view, digest }) => hex(packed(view)) === digest,
  lines: ({ line, core, hash }) => readLine(line).core === core && readLine(line).hash === hash,
  seals: ({ key, prev, signature }) => isSignature(signature, key, sealed(prev)) && !isSignature(signature, key, sealed(hex(prev))),
  refused: ({ line }) => refuses(line),
  messages({ hex: frame, code, also = [] }) { // a frame that is none has no body
    const bytes = Buffer.from(frame, "hex");
    const finds = (each) => isBreach(each, FRAMES.includes(each) ? bytes : bytes.subarray(4), "ready", "m");
    const found = (FRAMES.includes(code) ? FRAMES : BREACHES).filter(finds);
    return found.every((each) => [code, ...also].includes(each)) && found.length > 0 === BREACHES.includes(code);
  },
};

const vectors = Object.entries(JSON.parse(readFileSync(path, "utf8")));
const all = vectors.flatMap(([section, found]) => found.map((vector) => [section, vector]));
const failed = all.filter(([section, vector]) => !HOLDS[section](vector));
failed.forEach(([section, vector]) => console.log(section, vector));
console.log(`${all.length - failed.length} passed, ${failed.length} failed`);
