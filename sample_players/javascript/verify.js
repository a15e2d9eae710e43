// Verifies records of matches and tournaments without any code of the referee's; verify_record.js, next to this file, judges
// each, and pages of replays run the same in a browser.
"use strict";
const { createPublicKey, verify } = require("node:crypto");
const { readFileSync, readdirSync, statSync } = require("node:fs");
const { join } = require("node:path");
const { parseArgs } = require("node:util");
const { Finding, isHash, verifyRecord } = require("./verify_record.js");

const HELP = `usage: node verify.js [--key KEY] [--head HASH]... [--heads FILE]... [--seed SEED] [--deal] [--unsealed] PATH...

Verifies records (.jsonl) and folders of them: form, numbers and chain of the lines; the seal; what a redacted record
shows, and its lines against those of the whole record, if that is given, too; all arithmetic on time; the bytes of every
foul; the commitment, the nonces and the lot; every tile that was dealt and drawn in Q, Quincy and Quad-Ominos, and how
Quincala Mixing was set up; in Q and Quad-Ominos every view, elsewhere those before the first move. It does not know the
rules of the games, who won, how a tournament is paired, the bytes of another wire than the referee's own, and what
records of one process tell of one another: \`referee audit\` does.

  --key KEY     public key that must have sealed them: 64 hex digits, or a file that holds
                them, or the key in PEM
  --head HASH   hash that a player was sent, to be found in one of them; may be given more than once
  --heads FILE  heads that were published while records were written: each must be the hash of its line
  --seed SEED   64 hex digits: the seed that \`end\` told the player whose redacted record it is
  --deal        deal again: print hands and pile as seed and nonces give them, and what seats were shown of them
  --unsealed    take records without a seal, those of unfinished matches
  --help        this text

It prints a line for each record that holds, and one for each finding.
Exit status: 0 all hold, 1 something does not, 2 used wrongly or not readable.`;

function isSignature(signature, key, text) { // Ed25519, both in hex
  const prefix = "302a300506032b6570032100"; // of such a key's DER form
  const publicKey = createPublicKey({ key: Buffer.from(prefix + key, "hex"), format: "der", type: "spki" });
  return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, "hex"));
}

// --- all of them

function compare(records) { // a redacted record is, line for line, a whole one of its match, if there is any here
  const sound = records.filter(({ match, findings }) => match !== undefined && !findings.length);
  const isSame = (one, other) => one.length === other.length && one.every(({ hash }, i) => hash === other[i].hash);
  for (const record of sound.filter(({ isRedacted }) => isRedacted)) {
    const whole = sound.filter(({ match, isRedacted }) => match === record.match && !isRedacted);
    if (!whole.length || whole.some(({ lines }) => isSame(lines, record.lines))) continue;
    const names = whole.map(({ path }) => path).join(", ");
    record.findings.push(new Finding(null, `it is redacted from another record than the whole ones of its match: ${names}`));
  }
}

function comparePublished(records, text) { // with the heads of running records, a line of JSON for each
  for (const line of text.split("\n").slice(0, -1)) {
    const { record: name, line: number, head } = JSON.parse(line);
    const named = records.filter(({ match, findings }) => match === name && !findings.length);
    if (!named.length || named.some(({ lines }) => lines[number]?.hash === head)) continue;
    named[0].findings.push(new Finding(number, `it is another line than when ${head} was published`));
  }
}

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { withFileTypes: true }).sort((one, two) => (one.name < two.name ? -1 : 1));
  const chosen = names.filter((entry) => entry.isDirectory() || (entry.isFile() && entry.name.endsWith(".jsonl")));
  return chosen.flatMap(({ name }) => filesIn(join(path, name)));
}

function keyIn(text) { // of a file: 64 hex digits, or PEM
  if (isHash(text.trim())) return text.trim();
  const key = createPublicKey(text);
  if (key.asymmetricKeyType !== "ed25519") throw new Error("the key is no Ed25519 key");
  return key.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
}

function tellDeal({ why, deals, shown }, { names }) {
  if (why) console.log(`not dealt again: ${why}`);
  deals.forEach(({ hands, table, pile }, i) => {
    console.log(`deal ${i + 1}`);
    hands.forEach((hand, seat) => hand.length && console.log(`  seat ${seat} ${names[seat]}: ${hand.join(" ")}`));
    if (table.length) console.log(`  table: ${table.join(" ")}`);
    if (pile.length) console.log(`  pile: ${pile.join(" ")}`);
  });
  for (const { line, seat, what, dealt, told, isSame } of shown) {
    const record = isSame ? "so says the record" : `THE RECORD SAYS ${told ?? "SOMETHING ELSE"}`;
    console.log(`  line ${line}, ${what} of seat ${seat}: ${dealt.join(" ")}; ${record}`);
  }
}

async function main(args) {
  const options = {
    ...Object.fromEntries(["key", "head", "heads"].map((name) => [name, { type: "string", multiple: true, default: [] }])),
    ...Object.fromEntries(["deal", "unsealed", "help"].map((name) => [name, { type: "boolean" }])),
    seed: { type: "string" },
  };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  if (values.help || !positionals.length) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  const keys = values.key.map((key) => (isHash(key) ? key : keyIn(readFileSync(key, "utf8"))));
  const paths = positionals.flatMap(filesIn);
  const { seed = null } = values;
  if (seed !== null && !isHash(seed)) throw new Error("a seed is 64 hex digits");
  const how = { keys, takesUnsealed: values.unsealed, isSignature, seed };
  const records = [];
  for (const path of paths) records.push({ ...await verifyRecord(readFileSync(path), how), path });
  compare(records);
  for (const path of values.heads) comparePublished(records, readFileSync(path, "utf8"));
  const hashes = new Set(records.flatMap(({ lines }) => lines.map(({ hash }) => hash)));
  const missing = values.head.filter((head) => !hashes.has(head));
  for (const { path, findings, story, deal, setup } of records) {
    if (values.deal && deal) tellDeal(deal, setup);
    if (!findings.length) console.log(`${path} holds: ${story}`);
    for (const { line, message } of findings) console.log(`${path}${line === null ? "" : `, line ${line}`}: ${message}`);
  }
  for (const head of missing) console.log(`no line has the hash ${head}`);
  if (!paths.length) console.log("no records there");
  return records.some(({ findings }) => findings.length) || missing.length || !paths.length ? 1 : 0;
}

if (require.main === module) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    return 2;
  }).then((status) => { process.exitCode = status; });
}

module.exports = { isSignature };
