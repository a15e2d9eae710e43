// Redoes the vectors for records with the modules of verify.js: node read_vectors.js FOLDER VECTORS
"use strict";
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const [folder, path] = process.argv.slice(2);
const { hex, numberForm, packed, readLine } = require(join(folder, "verify_lines.js"));
const { isSignature } = require(join(folder, "verify.js"));

const numberOf = (bits) => Buffer.from(bits, "hex").readDoubleBE();
const refuses = (line) => {
  try {
    return !readLine(line);
  } catch {
    return true;
  }
};
const HOLDS = { // section -> whether a vector of it holds
  numbers: ({ bits, text }) =>
    numberForm(numberOf(bits)) === text && Object.is(readLine(`{"n":${text}}`).fields.n, numberOf(bits)),
  texts: ({ value, text }) => readLine(`{"n":${text}}`).fields.n === value,
  hidden({ salt, value, hash }) {
    const core = `{"n":{"veiled":"${hash}"}}`;
    return readLine(`${core.slice(0, -1)},"open":{"n":["${salt}",${value}]}}`).hash === hex(core);
  },
  views: ({ view, digest }) => hex(packed(view)) === digest,
  lines: ({ line, core, hash }) => readLine(line).core === core && readLine(line).hash === hash,
  seals: ({ key, prev, signature }) => isSignature(signature, key, prev) && !isSignature(signature, key, hex(prev)),
  refused: ({ line }) => refuses(line),
};

const vectors = Object.entries(JSON.parse(readFileSync(path, "utf8")));
const all = vectors.flatMap(([section, found]) => found.map((vector) => [section, vector]));
const failed = all.filter(([section, vector]) => !HOLDS[section](vector));
failed.forEach(([section, vector]) => console.log(section, vector));
console.log(`${all.length - failed.length} passed, ${failed.length} failed`);
