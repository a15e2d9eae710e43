// Verifies records of matches and tournaments without any code of the referee's, from its documents alone:
// logs/README.md, docs/reference/record-lines.md, docs/reference/record-checks.md and protocol/SPEC.md.
"use strict";
const { createPublicKey, verify } = require("node:crypto");
const { readFileSync, readdirSync, statSync } = require("node:fs");
const { join } = require("node:path");
const { parseArgs } = require("node:util");
const { commitment, nonceCommitment, derive, shuffleKey, shuffled } = require("./shuffle.js");
const { Finding, attempt, hiddenPlaces, readChain } = require("./verify_lines.js");
const { Evidence } = require("./verify_evidence.js");
const { Tiles } = require("./verify_q.js");
const { TimeBook } = require("./verify_time.js");

const HELP = `usage: node verify.js [--key KEY] [--head HASH]... [--heads FILE]... [--unsealed] PATH...

Verifies records (.jsonl) and folders of them: form, numbers and chain of the lines; the seal; what a redacted record
shows, and its lines against those of the whole record, if that is given, too; all arithmetic on time; the bytes of every
foul; the commitment, the nonces and the lot; and for the Q game every tile that was dealt and drawn, and every view. It
does not know the rules of the games, who won, how a tournament is paired, the bytes of another wire than the referee's
own, and what records of one process tell of one another: \`referee audit\` does.

  --key KEY     public key that must have sealed them: 64 hex digits, or a file that holds
                them, or the key in PEM
  --head HASH   hash that a player was sent, to be found in one of them; may be given more than once
  --heads FILE  heads that were published while records were written: each must be the hash of its line
  --unsealed    take records without a seal, those of unfinished matches
  --help        this text

It prints a line for each record that holds, and one for each finding.
Exit status: 0 all hold, 1 something does not, 2 used wrongly or not readable.`;

// --- any record

const isHash = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

function isSignature(signature, key, prev) { // Ed25519, by a key in hex, over what a seal covers
  const prefix = "302a300506032b6570032100"; // of such a key's DER form
  const publicKey = createPublicKey({ key: Buffer.from(prefix + key, "hex"), format: "der", type: "spki" });
  return verify(null, Buffer.from(`referee record 1\n${prev}`), publicKey, Buffer.from(signature, "hex"));
}

function checkSeal({ fields }, number, key) {
  if (Object.keys(fields).join() !== "n,prev,kind,signature") throw new Finding(number, "the seal has other keys");
  if (!/^[0-9a-f]{128}$/.test(fields.signature)) throw new Finding(number, "the signature is not 128 hex digits");
  if (!isSignature(fields.signature, key, fields.prev)) throw new Finding(number, `the seal is not the signature of key ${key}`);
}

function checkHeader({ fields: { kind, format, key } }, keys) {
  if (!["header", "tournament"].includes(kind)) throw new Finding(1, "the first line is no header");
  if (format !== 1) throw new Finding(1, `format ${format}: this program reads format 1`);
  if (!isHash(key)) throw new Finding(1, "the key is not 64 hex digits");
  if (keys.length && !keys.includes(key)) throw new Finding(1, `it was sealed by another key, ${key}`);
}

function checkEnd({ lines, isTorn }, takesUnsealed) { // -> whether it has its last seal
  const isSealed = lines.at(-1).fields.kind === "seal";
  if (isSealed && isTorn) throw new Finding(lines.length + 1, "something stands behind the seal");
  if (!isSealed && !takesUnsealed) throw new Finding(lines.length, "it has no seal: unfinished, or cut off");
  return isSealed;
}

// --- a match

function checkKinds(lines, isSealed) {
  const kinds = lines.map(({ fields }) => fields.kind);
  const rest = kinds.slice(1).join(" ").replace(/^(step ?)*/, "");
  const isRight = isSealed ? rest === "result seal" : rest === "" || rest === "result";
  if (!isRight) throw new Finding(lines.length, "the lines are not a header, steps, a result and a seal");
}

function seatShown(lines) { // null for a whole record; which seat a redacted one is for
  const places = lines.map(({ fields }) => hiddenPlaces(fields));
  const shows = (line, number, isMine) => {
    const due = places[number].filter(([, seat]) => isMine(seat)).map(([path]) => path);
    return due.join() === Object.keys(line.entries).join();
  };
  const views = lines.flatMap(({ entries }) => Object.entries(entries)).filter(([path]) => path.endsWith(".view"));
  const lengths = new Set(views.map(([, entry]) => entry.length));
  if (lines.every((line, number) => shows(line, number, () => true))) {
    if (lengths.has(3)) throw new Finding(0, "it shows views, which only a redacted record does");
    return null;
  }
  let seats = lines[0].fields.setup.names.map((_, seat) => seat);
  lines.forEach((line, number) => {
    seats = seats.filter((mine) => shows(line, number, (seat) => seat === mine));
    if (!seats.length) throw new Finding(number + 1, "it shows neither all that is hidden in it, nor what one seat may see");
  });
  if (lengths.has(2)) throw new Finding(0, "it is redacted, but a view is not shown");
  return seats[0];
}

function checkResult(lines, steps) { // the one that the match was closed with
  const told = lines.find(({ fields }) => fields.kind === "result")?.fields;
  if (!told) return;
  const closing = steps.at(-1)?.commands.at(-1);
  const plain = (result) => JSON.stringify(result, (_, value) => (value?.veiled ? null : value));
  if (closing?.command !== "close-match" || plain(closing.result) !== plain(told.result)) {
    throw new Finding(told.n + 1, "the result is not the one that the match was closed with");
  }
  const fouls = steps.flatMap(({ commands }) => commands).filter(({ foul }) => foul).map(({ foul }) => foul);
  if (plain(fouls) !== plain(told.result.fouls)) {
    throw new Finding(told.n + 1, "its fouls are not those for which seats were expelled");
  }
}

function checkTime(lines, steps) {
  const book = new TimeBook(lines[0].fields, steps);
  steps.forEach(({ event, commands }, i) => attempt(i + 2, () => book.take(i + 2, event, commands)));
  const result = lines.find(({ fields }) => fields.kind === "result")?.fields;
  if (result) book.close(result.n + 1, result.result);
}

function checkEvidence({ dialect, ...header }, steps) {
  if (dialect) return; // on its wire, bytes are judged otherwise
  const evidence = new Evidence(header);
  steps.forEach(({ event, commands }, i) => attempt(i + 2, () => evidence.take(i + 2, event, commands)));
}

function checkPrograms({ programs }, steps) { // of a whole record: who was started exits, who was not comes back
  const isStarted = (seat) => (programs?.[seat] ?? "remote") !== "remote";
  const fits = ({ event, seat }) => !["program-exited", "seat-returned"].includes(event) || isStarted(seat) === (event === "program-exited");
  const wrong = steps.find(({ event }) => !fits(event));
  if (wrong) throw new Finding(wrong.n + 1, `${wrong.event.event} of seat ${wrong.event.seat}, which does not fit the programs of the header`);
}

function checkDialect({ dialect, context, setup }, steps) { // the course's, as protocol/CS4500.md has it
  if (dialect !== "cs4500") return;
  const isFit = setup.game === "q" && setup.acknowledge && !context;
  if (!isFit) throw new Finding(1, "in this dialect Q is played, with confirmations, and in no tournament");
  const zeros = "0".repeat(32);
  steps.forEach(({ event: { event, seat, commitment: told, nonce } }, i) => {
    const isBack = ["match-resumed", "seat-returned"].includes(event);
    const isOther = event === "ready-received" && told !== nonceCommitment(setup.match, seat, zeros);
    if (isBack || isOther || (event === "nonce-received" && nonce !== zeros)) throw new Finding(i + 2, `${event}, which this dialect has not`);
  });
}

function noncesOf(setup, steps) { // those that were opened since the match was last offered
  let nonces = setup.names.map(() => null);
  let committed = {};
  steps.forEach(({ event, commands }, i) => {
    const { seat } = event;
    const foul = commands.find((each) => each.foul)?.foul;
    if (event.event === "match-resumed" && commands.some(({ command }) => command === "offer-match")) {
      nonces = nonces.map(() => null);
      committed = {};
    }
    if (event.event === "ready-received") committed[seat] = event.commitment;
    if (event.event !== "nonce-received") return;
    const isOpened = nonceCommitment(setup.match, seat, event.nonce) === committed[seat];
    if (isOpened !== !foul && (!foul || foul.code === "nonce")) {
      const verdict = foul ? "expelled though its nonce is the one" : "believed though its nonce is not the one";
      throw new Finding(i + 2, `seat ${seat} was ${verdict} that it committed to`);
    }
    nonces[seat] = foul ? null : event.nonce;
  });
  return nonces;
}

function checkChance(lines, setup, steps) { // -> the key of the shuffle
  const result = lines.find(({ fields }) => fields.kind === "result")?.fields;
  const seed = result?.seed ?? lines[0].fields.seed;
  if ((seed ?? null) === null) return null;
  if (commitment(seed) !== setup.commitment) throw new Finding(1, "the commitment was broken: the seed is another one");
  if (![null, seed].includes(lines[0].fields.seed)) throw new Finding(1, "the seed is not that of the result");
  const nonces = noncesOf(setup, steps);
  if (result && String(result.nonces) !== String(nonces)) {
    throw new Finding(result.n + 1, "its nonces are not those that the players gave");
  }
  const drawn = shuffled(Buffer.from(derive(seed, "seating"), "hex"), [...setup.names].sort());
  if (setup.lot && String(drawn) !== String(setup.names)) throw new Finding(1, `the lot gives the seats ${drawn}`);
  return shuffleKey(seed, nonces);
}

function checkTiles(setup, steps, key) { // -> how many views were made again
  if (setup.game !== "q" || !(key || setup.position)) return 0;
  const tiles = setup.position ? Tiles.placed(setup.position) : Tiles.dealt(key, setup.names.length);
  steps.forEach(({ event, commands }, i) => attempt(i + 2, () => tiles.take(i + 2, event, commands)));
  return tiles.views;
}

function verifyMatch(record, isSealed, findings) { // -> what it is, in words
  const { lines } = record;
  const { setup } = lines[0].fields;
  const steps = lines.map(({ fields }) => fields).filter(({ kind }) => kind === "step");
  const check = (work) => {
    try {
      return attempt(0, work);
    } catch (finding) {
      findings.push(finding);
      return null;
    }
  };
  attempt(1, () => checkKinds(lines, isSealed));
  record.match = setup.match;
  const seat = attempt(0, () => seatShown(lines));
  record.isRedacted = seat !== null;
  check(() => checkResult(lines, steps));
  check(() => checkTime(lines, steps));
  check(() => checkEvidence(lines[0].fields, steps));
  if (seat !== null) return `match ${setup.match} as seat ${seat} may see it; chain, seal and time hold, the rest is hidden`;
  check(() => checkPrograms(lines[0].fields, steps));
  check(() => checkDialect(lines[0].fields, steps));
  const key = check(() => checkChance(lines, setup, steps));
  const views = check(() => checkTiles(setup, steps, key));
  const tiles = views ? `, tiles in ${views} views` : "";
  return `match ${setup.match}, ${lines.length} lines; chain, time${key ? ", seed" : ""}${tiles} hold`;
}

// --- a tournament

function verifyTournament(record) {
  const { lines } = record;
  lines.forEach(({ fields: { kind }, entries }, i) => {
    const isRight = i ? ["tournament-step", "seal"].includes(kind) : kind === "tournament";
    if (!isRight || Object.keys(entries).length) throw new Finding(i + 1, `no line of a tournament's record: ${kind}`);
  });
  const seals = lines.filter(({ fields }) => fields.kind === "seal").length;
  record.match = lines[0].fields.spec.name;
  return `tournament ${record.match}, ${lines.length} lines, seals: ${seals}; chain and seals hold`;
}

// --- all of them

function verifyFile(path, { keys, takesUnsealed }) { // -> the record, with its findings and a word about it
  const findings = [];
  const record = { path, findings, lines: [], story: "" };
  try {
    Object.assign(record, readChain(readFileSync(path)));
    const { lines } = record;
    if (!lines.length) throw new Finding(1, "there is no line of a record");
    attempt(1, () => checkHeader(lines[0], keys));
    const isSealed = checkEnd(record, takesUnsealed);
    const { kind, key } = lines[0].fields;
    const seals = lines.filter(({ fields }) => fields.kind === "seal");
    for (const seal of seals) attempt(seal.fields.n + 1, () => checkSeal(seal, seal.fields.n + 1, key));
    const isTournament = kind === "tournament";
    record.story = attempt(1, () => (isTournament ? verifyTournament(record) : verifyMatch(record, isSealed, findings)));
    record.story += isSealed ? "" : "; NOT SEALED";
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    findings.push(error);
  }
  return record;
}

function compare(records) { // a redacted record is, line for line, a whole one of its match, if there is any here
  const sound = records.filter(({ match, findings }) => match !== undefined && !findings.length);
  const isSame = (one, other) => one.length === other.length && one.every(({ hash }, i) => hash === other[i].hash);
  for (const record of sound.filter(({ isRedacted }) => isRedacted)) {
    const whole = sound.filter(({ match, isRedacted }) => match === record.match && !isRedacted);
    if (!whole.length || whole.some(({ lines }) => isSame(lines, record.lines))) continue;
    const names = whole.map(({ path }) => path).join(", ");
    record.findings.push(new Finding(0, `it is redacted from another record than the whole ones of its match: ${names}`));
  }
}

function comparePublished(records, text) { // with the heads of running records, a line of JSON for each
  for (const line of text.split("\n").slice(0, -1)) {
    const { record: name, line: number, head } = JSON.parse(line);
    const named = records.filter(({ match, findings }) => match === name && !findings.length);
    if (!named.length || named.some(({ lines }) => lines[number]?.hash === head)) continue;
    named[0].findings.push(new Finding(number + 1, `it is another line than when ${head} was published`));
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

function main(args) {
  const options = {
    ...Object.fromEntries(["key", "head", "heads"].map((name) => [name, { type: "string", multiple: true, default: [] }])),
    ...Object.fromEntries(["unsealed", "help"].map((name) => [name, { type: "boolean" }])),
  };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  if (values.help || !positionals.length) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  const keys = values.key.map((key) => (isHash(key) ? key : keyIn(readFileSync(key, "utf8"))));
  const paths = positionals.flatMap(filesIn);
  const records = paths.map((path) => verifyFile(path, { keys, takesUnsealed: values.unsealed }));
  compare(records);
  for (const path of values.heads) comparePublished(records, readFileSync(path, "utf8"));
  const hashes = new Set(records.flatMap(({ lines }) => lines.map(({ hash }) => hash)));
  const missing = values.head.filter((head) => !hashes.has(head));
  for (const { path, findings, story } of records) {
    if (!findings.length) console.log(`${path} holds: ${story}`);
    for (const { line, message } of findings) console.log(`${path}${line ? `, line ${line}` : ""}: ${message}`);
  }
  for (const head of missing) console.log(`no line has the hash ${head}`);
  if (!paths.length) console.log("no records there");
  return records.some(({ findings }) => findings.length) || missing.length || !paths.length ? 1 : 0;
}

if (require.main === module) {
  try {
    process.exitCode = main(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 2;
  }
}

module.exports = { isSignature };
