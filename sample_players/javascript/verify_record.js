// Verifies one record, of a match or a tournament, from the documents alone: logs/README.md, docs/reference/record-lines.md,
// record-checks.md and record-tiles.md next to it, and protocol/SPEC.md. It reads no file and judges no signature: the caller does both.
"use strict";
const { commitment, nonceCommitment, derive, shuffleKey, shuffled } = require("./shuffle.js");
const { Finding, attempt, hiddenPlaces, readChain } = require("./verify_lines.js");
const { Evidence } = require("./verify_evidence.js");
const { QTiles } = require("./verify_q.js");
const { QuadTiles } = require("./verify_quadominos.js");
const { QuincalaTiles } = require("./verify_quincala.js");
const { QuincyTiles } = require("./verify_quincy.js");
const { TimeBook } = require("./verify_time.js");

// --- any record

const isHash = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

async function checkSeals(seals, key, isSignature) { // whose chain holds, by the key in hex
  for (const { n, prev, signature, ...rest } of seals) {
    if (Object.keys(rest).join() !== "kind") throw new Finding(n, "the seal has other keys");
    if (!/^[0-9a-f]{128}$/.test(signature)) throw new Finding(n, "the signature is not 128 hex digits");
    const isIt = !isSignature || await isSignature(signature, key, `referee record 1\n${prev}`);
    if (!isIt) throw new Finding(n, `the seal is not the signature of key ${key}`);
  }
}

function checkHeader({ fields: { kind, format, key } }, keys) {
  if (!["header", "tournament"].includes(kind)) throw new Finding(0, "the first line is no header");
  if (format !== 1) throw new Finding(0, `format ${format}: this program reads format 1`);
  if (!isHash(key)) throw new Finding(0, "the key is not 64 hex digits");
  if (keys.length && !keys.includes(key)) throw new Finding(0, `it was sealed by another key, ${key}`);
}

function checkEnd({ lines, isTorn }, takesUnsealed) { // -> whether it has its last seal
  const isSealed = lines.at(-1).fields.kind === "seal";
  if (isSealed && isTorn) throw new Finding(lines.length, "something stands behind the seal");
  if (!isSealed && !takesUnsealed) throw new Finding(lines.length, "it has no seal: unfinished, or cut off");
  return isSealed;
}

// --- a match

function checkKinds(lines, isSealed) {
  const kinds = lines.map(({ fields }) => fields.kind);
  const rest = kinds.slice(1).join(" ").replace(/^(step ?)*/, "");
  const isRight = isSealed ? rest === "result seal" : rest === "" || rest === "result";
  if (!isRight) throw new Finding(lines.length - 1, "the lines are not a header, steps, a result and a seal");
}

function checkSetup({ seed, programs, context, setup }, steps) { // the header agrees with itself, and the starts of programs with it
  const wrong = (what, n = 0) => { throw new Finding(n, what); };
  const seats = setup.names.length;
  if (Array.isArray(programs) && programs.length !== seats) wrong(`programs of ${programs.length} seats, not of ${seats}`);
  const isFixed = seed !== null;
  if (isFixed && setup.nonces) wrong("nonces count, though the seed was fixed beforehand");
  const isLeg = !isFixed && !setup.nonces;
  if (isLeg !== (setup.seed_opens !== "at-end")) wrong(`seed_opens ${setup.seed_opens} with nonces ${setup.nonces}: only legs of a duplicate deal keep the seed`);
  if (isLeg && !context) wrong("it is a leg of a duplicate deal, and of no tournament");
  if (context) checkContext(context, setup, wrong);
  steps.forEach(({ event: { starts } }, i) => {
    if (!starts?.length) return;
    if (!context) wrong("it tells of starts, though it is of no tournament", i + 1);
    const isRemote = (seat) => Array.isArray(programs) && programs[seat] === "remote";
    const isFit = starts.length === seats && starts.every((start, seat) => start >= 0 && !(start && isRemote(seat)));
    if (!isFit) wrong(`starts ${starts}, which do not fit the seats`, i + 1);
  });
}

function checkContext({ tournament, fixture, head }, { names, match, lot, nonces }, wrong) { // what opened the match
  const { number, leg, attempt, entrants } = fixture;
  const name = `${tournament}-${String(number).padStart(5, "0")}${leg ? `.${leg + 1}` : ""}${attempt ? `r${attempt}` : ""}`;
  if (match !== name || fixture.match !== name) wrong(`it is the match ${match}, and its fixture makes it ${name}`);
  const isEach = entrants.length === names.length && new Set(entrants).size === names.length;
  if (!isEach || entrants.some((entrant) => entrant < 0)) wrong(`entrants ${entrants}, which are not one for each seat`);
  if (leg >= names.length || (leg && nonces)) wrong(`leg ${leg}, which there is not`);
  if (lot || !isHash(head)) wrong("its seats were drawn, or its head is no hash, and a tournament opened it");
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
    if (lengths.has(3)) throw new Finding(null, "it shows views, which only a redacted record does");
    return null;
  }
  let seats = lines[0].fields.setup.names.map((_, seat) => seat);
  lines.forEach((line, number) => {
    seats = seats.filter((mine) => shows(line, number, (seat) => seat === mine));
    if (!seats.length) throw new Finding(number, "it shows neither all that is hidden in it, nor what one seat may see");
  });
  if (lengths.has(2)) throw new Finding(null, "it is redacted, but a view is not shown");
  return seats[0];
}

function checkResult(lines, steps) { // the one that the match was closed with
  const told = lines.find(({ fields }) => fields.kind === "result")?.fields;
  if (!told) return;
  const closing = steps.at(-1)?.commands.at(-1);
  const plain = (result) => JSON.stringify(result, (_, value) => (value?.hidden ? null : value));
  if (closing?.command !== "close-match" || plain(closing.result) !== plain(told.result)) {
    throw new Finding(told.n, "the result is not the one that the match was closed with");
  }
  const fouls = steps.flatMap(({ commands }) => commands).filter(({ foul }) => foul).map(({ foul }) => foul);
  if (plain(fouls) !== plain(told.result.fouls)) {
    throw new Finding(told.n, "its fouls are not those for which seats were expelled");
  }
}

function checkTime(lines, steps) {
  const book = new TimeBook(lines[0].fields, steps);
  steps.forEach(({ event, commands }, i) => attempt(i + 1, () => book.take(i + 1, event, commands)));
  const result = lines.find(({ fields }) => fields.kind === "result")?.fields;
  if (result) book.close(result.n, result.result);
}

function checkEvidence({ dialect, ...header }, steps) {
  if (dialect) return; // on its wire, bytes are judged otherwise
  const evidence = new Evidence(header);
  steps.forEach(({ event, commands }, i) => attempt(i + 1, () => evidence.take(i + 1, event, commands)));
}

function checkPrograms({ programs }, steps) { // of a whole record: who was started exits, who was not comes back
  const isStarted = (seat) => (programs?.[seat] ?? "remote") !== "remote";
  const fits = ({ event, seat }) => !["program-exited", "seat-returned"].includes(event) || isStarted(seat) === (event === "program-exited");
  const wrong = steps.find(({ event }) => !fits(event));
  if (wrong) throw new Finding(wrong.n, `${wrong.event.event} of seat ${wrong.event.seat}, which does not fit the programs of the header`);
}

function checkDialect({ dialect, context, setup }, steps) { // the course's, as protocol/CS4500.md has it
  if (dialect !== "cs4500") return;
  const isFit = setup.game === "q" && setup.acknowledge && !context;
  if (!isFit) throw new Finding(0, "in this dialect Q is played, with confirmations, and in no tournament");
  const zeros = "0".repeat(32);
  steps.forEach(({ event: { event, seat, commitment: told, nonce } }, i) => {
    const isBack = ["match-resumed", "seat-returned"].includes(event);
    const isOther = event === "ready-received" && told !== nonceCommitment(setup.match, seat, zeros);
    if (isBack || isOther || (event === "nonce-received" && nonce !== zeros)) throw new Finding(i + 1, `${event}, which this dialect has not`);
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
      throw new Finding(i + 1, `seat ${seat} was ${verdict} that it committed to`);
    }
    nonces[seat] = foul ? null : event.nonce;
  });
  return nonces;
}

function seedIn(lines) { // as far as the record shows it
  const told = lines.map(({ fields }) => fields).filter(({ kind }) => ["header", "result"].includes(kind));
  return told.map(({ seed }) => seed).findLast((seed) => typeof seed === "string") ?? null;
}

function checkChance({ lines, setup }, steps, given) { // -> the key of the shuffle; `given` is a seed that the record hides
  const result = lines.find(({ fields }) => fields.kind === "result")?.fields;
  const told = seedIn(lines);
  const seed = told ?? given;
  if (seed === null) return null;
  const isKept = commitment(seed) === setup.commitment;
  if (!isKept && told === null) throw new Finding(null, "the seed that was given is not that of the commitment");
  if (!isKept) throw new Finding(0, "the commitment was broken: the seed is another one");
  if (isHash(lines[0].fields.seed) && lines[0].fields.seed !== seed) throw new Finding(0, "the seed is not that of the result");
  const nonces = noncesOf(setup, steps);
  if (result && String(result.nonces) !== String(nonces)) {
    throw new Finding(result.n, "its nonces are not those that the players gave");
  }
  const drawn = shuffled(Buffer.from(derive(seed, "seating"), "hex"), [...setup.names].sort());
  if (setup.lot && String(drawn) !== String(setup.names)) throw new Finding(0, `the lot gives the seats ${drawn}`);
  return shuffleKey(seed, nonces);
}

const DEALT = { // game -> its tiles, from the deal on
  q: QTiles.dealt, quincy: QuincyTiles.dealt, quincala: QuincalaTiles.setUp, quadominos: QuadTiles.dealt,
};

const SEED_HIDDEN = { // when the players are told the seed -> why a redacted record is not dealt again without it
  "at-end": "the seed is hidden here: `end` told it to the player, who can give it",
  "at-end-unless-void": "the seed is hidden here: `end` told it to the player, as the last leg of the deal, unless it is void",
  "after-last-leg": "its deal is played from every seat, and its seed opens after the last leg: who knows it then can give it",
};

function whyNotDealt({ setup, isRedacted }, seed) { // nothing if it can be dealt again
  if (setup.position !== null) return "it began from a given position: nothing was dealt";
  if (!DEALT[setup.game]) return `how ${setup.game} is dealt is not known here`;
  if (setup.game === "quincala" || seed !== null) return "";
  if (!isRedacted) return "the match was not finished: its seed is still secret";
  return SEED_HIDDEN[setup.seed_opens];
}

function checkTiles(record, steps, key) { // -> how many views were made again
  const { setup, deal, lines, isRedacted } = record;
  const isPlaced = setup.game === "q" && setup.position !== null && !isRedacted;
  if (!isPlaced && (deal.why || !(key || setup.game === "quincala"))) return 0;
  const tiles = isPlaced ? QTiles.placed(setup) : DEALT[setup.game](setup, key);
  Object.assign(deal, { deals: tiles.deals, shown: tiles.shown });
  steps.forEach((step, i) => attempt(i + 1, () => tiles.take(i + 1, step, lines[i + 1].entries)));
  return tiles.views;
}

const OPENS = { // when the seed is told, of a duplicate deal
  "at-end-unless-void": "; last leg of its deal: its end told the seed, unless it is void",
  "after-last-leg": "; its seed opens after the last leg of its deal",
};

function verifyMatch(record, isSealed, seed) { // -> what it is, in words
  const { lines, findings } = record;
  const { setup, context } = lines[0].fields;
  const claim = context ? `; not verified: that it was a match of the tournament ${context.tournament}` : "";
  const opens = (OPENS[setup.seed_opens] ?? "") + claim;
  const steps = lines.map(({ fields }) => fields).filter(({ kind }) => kind === "step");
  const check = (work) => {
    try {
      return attempt(null, work);
    } catch (finding) {
      findings.push(finding);
      return null;
    }
  };
  attempt(0, () => checkKinds(lines, isSealed));
  const seat = attempt(null, () => seatShown(lines));
  Object.assign(record, { match: setup.match, setup, isRedacted: seat !== null });
  check(() => checkSetup(lines[0].fields, steps));
  check(() => checkResult(lines, steps));
  check(() => checkTime(lines, steps));
  check(() => checkEvidence(lines[0].fields, steps));
  record.checked.push("time");
  if (!record.isRedacted) {
    check(() => checkPrograms(lines[0].fields, steps));
    check(() => checkDialect(lines[0].fields, steps));
  }
  const before = findings.length;
  const key = check(() => checkChance(record, steps, seed));
  const nonces = lines.find(({ fields }) => fields.kind === "result")?.fields.nonces ?? [];
  const why = whyNotDealt(record, seedIn(lines) ?? seed);
  record.deal = { why, isSeedAsked: why === SEED_HIDDEN[setup.seed_opens], seed: seedIn(lines) ?? seed, nonces, key, deals: [], shown: [] };
  const views = check(() => checkTiles(record, steps, key));
  record.deal.differences = findings.slice(before);
  record.checked.push(...(key ? ["shuffle"] : []), ...(views ? [`tiles in ${views} views`] : []));
  if (record.isRedacted) return `match ${setup.match} as seat ${seat} may see it; ${record.checked.join(", ")} hold, the rest is hidden${opens}`;
  return `match ${setup.match}, ${lines.length} lines; ${record.checked.join(", ")} hold${opens}`;
}

// --- a tournament

function verifyTournament(record) {
  const { lines } = record;
  lines.forEach(({ fields: { kind }, entries }, i) => {
    const isRight = i ? ["tournament-step", "seal"].includes(kind) : kind === "tournament";
    if (!isRight || Object.keys(entries).length) throw new Finding(i, `no line of a tournament's record: ${kind}`);
  });
  record.match = lines[0].fields.spec.name;
  return `tournament ${record.match}, ${lines.length} lines; ${record.checked.join(", ")} hold`;
}

// --- either

// Takes the bytes of a file. `isSignature` tells whether a signature, in hex, is that of a key, in hex, over a text, now
// or later; without it no seal is judged. `seed` is that of a redacted record. Gives lines, match, findings, what was
// checked, a word about it all, and of a match its deal: why it is not made again, or the deals and what seats were shown.
async function verifyRecord(data, { keys = [], takesUnsealed = false, isSignature = null, seed = null } = {}) {
  const record = { findings: [], lines: [], checked: ["chain"], story: "" };
  try {
    Object.assign(record, readChain(data));
    const { lines } = record;
    if (!lines.length) throw new Finding(0, "there is no line of a record");
    attempt(0, () => checkHeader(lines[0], keys));
    const isSealed = checkEnd(record, takesUnsealed);
    const { kind, key } = lines[0].fields;
    const seals = lines.map(({ fields }) => fields).filter((line) => line.kind === "seal");
    await checkSeals(seals, key, isSignature);
    if (isSignature && seals.length) record.checked.push(seals.length > 1 ? `${seals.length} seals` : "seal");
    record.story = attempt(0, () => (kind === "tournament" ? verifyTournament(record) : verifyMatch(record, isSealed, seed)));
    record.story += isSealed ? "" : "; NOT SEALED";
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    record.findings.push(error);
  }
  return record;
}

module.exports = { Finding, isHash, verifyRecord };
