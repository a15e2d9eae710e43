// Replaces for a browser the parts of Node.js that the verifier uses: bytes, SHA-256, Ed25519.
"use strict";
class Buffer extends Uint8Array {
  static alloc(length) {
    return new Buffer(length);
  }
  static from(value, encoding) { // from text, from hex (up to the first invalid digit), or from numbers
    if (encoding === "hex") return new Buffer((/^([0-9a-f]{2})*/i.exec(value)[0].match(/../g) ?? []).map((pair) => parseInt(pair, 16)));
    return new Buffer(typeof value === "string" ? new TextEncoder().encode(value) : value);
  }
  static concat(parts) {
    const whole = new Buffer(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
  get view() {
    return new DataView(this.buffer, this.byteOffset, this.length);
  }
  toString() { // in hex
    return Array.from(this, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  readUIntBE(at, width) {
    return this.subarray(at, at + width).reduce((sum, byte) => sum * 256 + byte, 0);
  }
  readIntBE(at, width) {
    const number = this.readUIntBE(at, width);
    return number < 2 ** (8 * width - 1) ? number : number - 2 ** (8 * width);
  }
  readUInt32BE() {
    return this.view.getUint32(0);
  }
  readBigUInt64BE(at = 0) {
    return this.view.getBigUint64(at);
  }
  readFloatBE() {
    return this.view.getFloat32(0);
  }
  readDoubleBE() {
    return this.view.getFloat64(0);
  }
  writeBigUInt64BE(number) {
    this.view.setBigUint64(0, number);
  }
  writeBigInt64BE(number) {
    this.view.setBigInt64(0, number);
  }
}

// SHA-256 (FIPS 180-4). WebCrypto's own is asynchronous, and only pages from https or from this machine have it.
const { begin: SHA_BEGIN, rounds: SHA_ROUNDS } = (() => { // the first 32 bits of the fractional parts of roots of the first primes
  const primes = [];
  for (let number = 2; primes.length < 64; number++) if (primes.every((prime) => number % prime)) primes.push(number);
  const fraction = (root) => Math.floor((root % 1) * 2 ** 32);
  return { begin: primes.slice(0, 8).map(Math.sqrt).map(fraction), rounds: primes.map(Math.cbrt).map(fraction) };
})();

function digest(message) {
  const rest = 64 - ((message.length + 9) % 64 || 64);
  const end = Buffer.alloc(8);
  end.writeBigUInt64BE(BigInt(message.length) * 8n);
  const { view } = Buffer.concat([message, [0x80], new Uint8Array(rest), end]);
  const turned = (word, bits) => (word >>> bits) | (word << (32 - bits));
  const state = Uint32Array.from(SHA_BEGIN);
  const words = new Uint32Array(64);
  for (let block = 0; block < view.byteLength; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(block + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [early, late] = [words[i - 15], words[i - 2]];
      const small = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      words[i] = words[i - 16] + small + words[i - 7] + (turned(late, 17) ^ turned(late, 19) ^ (late >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + SHA_ROUNDS[i] + words[i];
      const two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => { state[i] += word; });
  }
  const found = Buffer.alloc(32);
  state.forEach((word, i) => found.view.setUint32(4 * i, word));
  return found;
}

function createHash() {
  const parts = [];
  const hash = {
    update(part) {
      parts.push(typeof part === "string" ? Buffer.from(part) : part);
      return hash;
    },
    digest: () => digest(Buffer.concat(parts)),
  };
  return hash;
}

async function findSignatures() { // returns the function isSignature for the verifier; null if the browser lacks Ed25519
  const subtle = globalThis.crypto?.subtle;
  const keyOf = (key) => subtle.importKey("raw", Buffer.from(key, "hex"), "Ed25519", false, ["verify"]);
  try {
    await keyOf("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"); // the first test key of RFC 8032
  } catch {
    return null;
  }
  return async (signature, key, text) => {
    const publicKey = await keyOf(key).catch(() => null); // not all 32 bytes are a valid point
    return publicKey !== null && subtle.verify("Ed25519", publicKey, Buffer.from(signature, "hex"), Buffer.from(text));
  };
}
