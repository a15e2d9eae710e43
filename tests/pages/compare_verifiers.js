// Has the pages' verifier and that of Node.js judge all records of a folder: node compare_verifiers.js BUNDLE FOLDER RECORDS
// It prints those of which they say different things, and how many hold.
"use strict";
const { webcrypto } = require("node:crypto");
const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");
const { createContext, runInContext } = require("node:vm");
const [bundle, folder, records] = process.argv.slice(2);
const { verifyRecord } = require(join(folder, "verify_record.js"));
const { isSignature } = require(join(folder, "verify.js"));

const browser = createContext({ TextDecoder, TextEncoder, crypto: webcrypto }); // and nothing of Node.js's
runInContext(`${readFileSync(bundle, "utf8")}; globalThis.verifier = verifier;`, browser);
const told = ({ story, findings }) => [story, ...findings.map(({ line, message }) => `${line}: ${message}`)].join("; ");

async function main() {
  const inBrowser = await browser.verifier.findSignatures();
  let held = 0;
  for (const name of readdirSync(records)) {
    const data = readFileSync(join(records, name));
    const here = await verifyRecord(data, { isSignature });
    const there = await browser.verifier.verifyRecord(new Uint8Array(data), { isSignature: inBrowser });
    if (told(here) !== told(there)) console.log(`${name}: ${told(here)} <> ${told(there)}`);
    held += here.findings.length === 0;
  }
  console.log(held);
}

main();
