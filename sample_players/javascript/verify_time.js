// Checks the time in a record as docs/reference/record-checks.md, "Time", says: instants, limits, banks, lateness, sums.
"use strict";
const { Finding } = require("./verify_lines.js");

const MOST_EXTENSIONS = 2;
const ROUNDING_MS = 0.001;
const ROUNDINGS_MS = 0.005;
const UNNOTICED_MS = 7.5; // of a standstill, at either end
const LOOKING_MS = 510; // into a socket, behind its deadline
const KEPT = 4095; // standstills that may excuse
const PROMPT_MS = 100; // from a line to the request that it asks
const DISK_MS = 500; // more, where it waits for the disk
const LEAST_AFTER_A_DEATH_MS = 1000;
const BEGINNINGS = ["match-opened", "match-resumed"];
const ANSWERS = ["ready-received", "nonce-received", "move-received", "ack-received"];

function rounded(ms) { // to three decimals; only odd sixteenths lie in the middle between two
  const isMiddle = Number.isInteger(ms * 16) && !Number.isInteger(ms * 8);
  if (!isMiddle) return Number(ms.toFixed(3));
  const below = Math.floor(ms * 1000);
  return (below % 2 === 0 ? below : below + 1) / 1000;
}

class Standstills { // of the referee, as all steps of a record tell them
  constructor(steps) {
    this.all = []; // [begin, end], in their order
    this.begins = new Map(); // end, as a line tells it -> begin
    let [reached, lastAt, mayGoOn] = [0, 0, false];
    steps.forEach(({ event, standstills = [] }, i) => {
      if (BEGINNINGS.includes(event.event)) [reached, mayGoOn] = [event.at_ms, false];
      for (const [begin, end] of standstills) {
        const goesOn = mayGoOn && begin === this.all.at(-1)[0] && end >= reached;
        const fits = (goesOn || (reached <= begin && begin <= end)) && lastAt <= end && end <= event.at_ms;
        if (!fits) throw new Finding(i + 1, `a standstill from ${begin} to ${end} ms, which does not fit there`);
        if (goesOn) this.all.pop();
        this.all.push([begin, end]);
        this.begins.set(end, begin);
        [reached, mayGoOn] = [end, true];
      }
      lastAt = event.at_ms;
    });
  }
  allowance(from, to) { // how much of a time may have been the referee's own
    let [sum, reached] = [ROUNDINGS_MS, from];
    for (const [begin, end] of this.all) {
      const until = Math.min(end + UNNOTICED_MS, to);
      sum += Math.max(until - Math.max(begin - UNNOTICED_MS, reached), 0);
      reached = Math.max(reached, until);
    }
    return sum;
  }
  least(from, to) { // of the longest one, as far as the referee remembers
    const within = this.all.filter(([begin, end]) => end >= from - UNNOTICED_MS && begin <= to + UNNOTICED_MS);
    const parts = within.slice(-KEPT).map(([begin, end]) => Math.min(end, to) - Math.max(begin, from));
    return Math.max(...parts, 0) - ROUNDINGS_MS;
  }
  sentBy(openedAt, to, disk) { // a request that was opened then, at the latest
    let [by, reached] = [openedAt + PROMPT_MS + disk + ROUNDINGS_MS, openedAt];
    for (const [begin, end] of this.all.filter(([, over]) => over >= openedAt - UNNOTICED_MS)) {
      const from = Math.max(begin - UNNOTICED_MS, reached);
      if (from >= by || begin > to + UNNOTICED_MS) break;
      by += Math.max(end + UNNOTICED_MS - from, 0);
      reached = Math.max(reached, end + UNNOTICED_MS);
    }
    return Math.min(by, to);
  }
  longest(from, to) {
    return Math.max(...this.all.map(([begin, end]) => Math.min(end, to) - Math.max(begin, from)), 0) + ROUNDINGS_MS;
  }
}

class TimeBook {
  constructor({ durability = null, setup: { time, lag_margin_ms: margin, names } }, steps) { // of a header
    this.disk = durability === null ? 0 : DISK_MS; // so long a request may wait for it
    this.standstills = new Standstills(steps);
    this.time = time;
    this.margin = margin;
    this.banks = names.map(() => time.bank_ms);
    this.used = names.map(() => 0);
    this.requests = new Map(); // seat -> { openedAt, limit, isMove, isOffer, number, extensions }
    this.turnUsed = 0; // charged to the turn that goes on
    this.mover = null; // whose turn it is, unless it was expelled
    this.lastAt = 0;
    this.line = 0;
  }
  demand(isTrue, text) {
    if (!isTrue) throw new Finding(this.line, text);
  }

  take(line, event, commands) {
    this.line = line;
    this.demand(event.at_ms >= this.lastAt, `at ${event.at_ms} ms, after a line at ${this.lastAt} ms`);
    const isBack = event.event === "match-resumed";
    this.demand(!isBack || event.at_ms === this.lastAt, `taken up again at ${event.at_ms} ms, not at ${this.lastAt} ms`);
    const before = new Map(this.requests);
    this.demand(event.event !== "seat-vacant" || before.get(event.seat)?.isOffer, `seat ${event.seat} had accepted the offer`);
    const expelled = new Map(commands.filter((each) => each.foul).map(({ seat, foul }) => [seat, foul.cause]));
    if (ANSWERS.includes(event.event)) this.answer(event, expelled, commands);
    else if (event.event === "deadline-passed") this.answer(event, expelled, commands);
    else if (event.event === "seat-returned") this.checkReturn(event);
    else this.demand(![...expelled.values()].includes("timeout"), "an expulsion for time without an answer or a deadline");
    const isThen = commands.every(({ foul }) => !foul || foul.at_ms === event.at_ms);
    this.demand(isThen, "a foul of another instant than that of its line");
    for (const seat of expelled.keys()) {
      this.requests.delete(seat);
      if (this.mover === seat) this.mover = null;
    }
    for (const command of commands) {
      if ((command.limit_ms ?? null) !== null) this.open(event, command, before.get(command.seat));
    }
    this.lastAt = event.at_ms;
  }

  // --- answers

  answer(event, expelled, commands) {
    const { seat, at_ms: at, sent_ms: sent, lag_ms: lag, stalled_ms: stalled = 0 } = event;
    const request = this.requests.get(seat);
    const isDeadline = event.event === "deadline-passed";
    this.demand(request !== undefined, `seat ${seat} was not asked`);
    const latest = request.openedAt + PROMPT_MS + this.disk + this.standstills.allowance(request.openedAt, sent);
    const isPrompt = sent >= request.openedAt && sent <= latest;
    this.demand(isPrompt, `its request was sent at ${sent} ms, but made at ${request.openedAt} ms`);
    const first = isDeadline ? at : event.first_byte_ms;
    this.demand(isDeadline || (sent <= first && first <= at), "sending, first byte and last byte are not in order");
    const used = at - sent - lag;
    this.checkLags(lag, stalled, sent, at, !isDeadline && used >= request.limit - 0.01 ? LOOKING_MS : 0);
    const isLate = used > request.limit;
    const isUnsure = isLate && this.isUnsure(stalled, request);
    if (isLate) this.checkLate(event, request);
    this.used[seat] += Math.max(used, 0);
    this.requests.delete(seat);
    if (event.event === "move-received" && (!isLate || isUnsure)) this.charge(seat, Math.min(Math.max(used, 0), request.limit));
    const told = `seat ${seat} used ${used.toFixed(3)} ms of ${request.limit} ms`;
    this.demand(!isDeadline || isLate, `the deadline had not passed: ${told}`);
    const late = request.isOffer ? "refused-to-start" : "timeout";
    const cause = expelled.get(seat);
    if (isLate && !isUnsure) this.demand(cause === late, `${told}, and was not expelled for it as ${late}`);
    else this.demand(cause !== "timeout" && cause !== "refused-to-start", `${told}, and was expelled for time`);
    const number = event.turn ?? event.ack ?? request.number;
    this.demand(number === request.number || cause !== undefined, `${number} was answered, ${request.number} was asked`);
    const isExtended = commands.some((each) => each.command === "extend-limit" && each.seat === seat);
    this.demand(isExtended === (isDeadline && isUnsure), `${told}: ${isExtended ? "a" : "no"} new limit, wrongly`);
  }
  checkLate({ at_ms: at, sent_ms: sent, stalled_ms: stalled = 0, stormed_ms: stormed = 0 }, { limit, extensions }) {
    const latest = sent + limit + LOOKING_MS + PROMPT_MS + this.standstills.allowance(sent, at);
    this.demand(at <= latest, `a verdict at ${at} ms, but the limit was over by ${latest} ms`);
    const least = this.standstills.least(sent, at);
    const isExcused = least > this.margin && extensions < MOST_EXTENSIONS;
    this.demand(!isExcused || Math.max(stalled, stormed) > this.margin, `no excuse, though the referee stood still for ${least} ms`);
  }
  isUnsure(stalled, request) {
    return stalled > this.margin && request.extensions < MOST_EXTENSIONS;
  }
  checkLags(lag, stalled, from, to, granted = 0) {
    const span = Math.max(to - from, 0) + ROUNDING_MS;
    this.demand([lag, stalled].every((ms) => ms >= 0 && ms <= span), `a lag of ${lag} or a standstill of ${stalled} in ${span} ms`);
    const isTold = lag <= this.standstills.allowance(from, to) + granted && stalled <= this.standstills.longest(from, to);
    this.demand(isTold, `a lag of ${lag} ms and a standstill of ${stalled} ms, for which no standstills account`);
  }
  charge(seat, used) {
    this.turnUsed += used;
    if (this.banks[seat] !== null) this.banks[seat] = rounded(Math.max(this.banks[seat] - used, 0));
  }

  // --- requests

  open(event, command, old) {
    const { seat, limit_ms: limit } = command;
    const isMove = command.command === "ask-move";
    let extensions = 0;
    let due = command.command === "offer-match" ? this.time.start_ms : this.time.per_move_ms;
    if (command.command === "extend-limit") {
      due = old?.limit;
      extensions = (old?.extensions ?? 0) + 1;
    } else if (event.event === "seat-returned") {
      this.demand(old !== undefined, `seat ${seat} is asked at its return, but no request was open`);
      [due, extensions] = this.afterReturn(event, old);
    } else if (event.event === "match-resumed" && command.command !== "offer-match") {
      this.demand(old !== undefined, `seat ${seat} is asked when the match is resumed, but no request was open`);
      due = Math.max(old.limit - (this.lastAt - old.openedAt), Math.min(old.limit, LEAST_AFTER_A_DEATH_MS));
      extensions = old.extensions;
      if (old.isMove) this.charge(seat, old.limit - due);
    } else if (isMove) {
      due = this.limitOfMove(command);
    }
    this.demand(limit === due, `seat ${seat} has a limit of ${limit} ms, not of ${due} ms`);
    const bank = isMove ? this.banks[seat] : null;
    this.demand((command.bank_ms ?? null) === bank, `a bank of ${command.bank_ms} ms, not of ${bank} ms`);
    const asked = { isMove, isOffer: command.command === "offer-match", number: command.ack ?? command.turn };
    const kept = command.command === "extend-limit" ? old : asked;
    this.requests.set(seat, { ...kept, openedAt: event.at_ms, limit, extensions });
  }
  limitOfMove({ seat, goes_on: goesOn }) {
    if (!goesOn) {
      const { mover, banks } = this;
      if (mover !== null && banks[mover] !== null) banks[mover] = rounded(banks[mover] + this.time.increment_ms);
      this.turnUsed = 0;
    }
    this.mover = seat;
    const left = rounded(Math.max(this.time.per_move_ms - this.turnUsed, 0));
    return this.banks[seat] === null ? left : Math.min(left, this.banks[seat]);
  }
  checkReturn({ seat, at_ms: at, gone_ms: gone, lag_ms: lag = 0, stalled_ms: stalled = 0, stormed_ms: stormed = 0 }) {
    this.demand(gone <= at + ROUNDING_MS, `away for ${gone} ms, at ${at} ms`);
    const from = this.requests.get(seat)?.openedAt ?? at;
    this.checkLags(lag, stalled, from, at, this.disk && this.disk + PROMPT_MS);
    if (!this.requests.has(seat)) return;
    const sent = this.standstills.sentBy(from, at, this.disk);
    const least = this.standstills.least(sent, at);
    this.demand(least <= Math.max(stalled, stormed), `back after a standstill of ${least} ms, of which it is not told`);
    const present = at - Math.max(this.standstills.begins.get(at) ?? at, sent) - ROUNDINGS_MS;
    this.demand(stormed || present < least || present <= lag, `a lag of ${lag} ms in a standstill of ${present} ms`);
  }
  afterReturn({ seat, at_ms: at, lag_ms: lag = 0, stalled_ms: stalled = 0 }, old) { // -> limit and extensions
    if (this.isUnsure(stalled, old)) return [old.limit, old.extensions + 1];
    const left = rounded(Math.min(Math.max(old.limit - (at - old.openedAt - lag), 0), old.limit));
    this.used[seat] += old.limit - left;
    if (old.isMove) this.charge(seat, old.limit - left);
    return [left, old.extensions];
  }

  close(line, { used_ms: told }) {
    const used = this.used.map(rounded);
    if (String(used) !== String(told)) throw new Finding(line, `used_ms is ${told}, but the lines add up to ${used}`);
  }
}

module.exports = { TimeBook };
