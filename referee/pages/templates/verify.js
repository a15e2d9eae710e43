// Verifies a record and its deal in the browser: the record that a page was made from, or a file that the reader chooses.
// The downloaded page of a match contains its record. Otherwise the link to this page names the record and its head, and
// may contain the record.
"use strict";
(() => {
  const [, name, head, brought, isDealAsked] = location.hash.match(/^#([\w.-]+\.jsonl)=([0-9a-f]{64})(?:=([\w-]+))?(&deal)?$/) ?? [];
  const data = JSON.parse(document.getElementById("data").textContent);
  const record = data.record ?? { name, head, address: name && `../${name}` };
  const byId = (id) => document.getElementById(id);
  const line = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const held = byId("record-text")?.textContent;
  let opened = null; // the bytes that were verified last

  const unjudged = () => {
    if (!globalThis.isSecureContext) return "NOT JUDGED: browsers verify signatures only on pages that come over https";
    return "NOT JUDGED: this browser lacks Ed25519; Chromium has it since version 137";
  };
  const headOf = (lines) => {
    const named = lines.findIndex(({ hash }) => hash === record.head);
    const last = lines.at(-1).hash;
    if (!record.head) return last;
    if (named < 0) return `${last}: the page was made from another record, up to ${record.head}`;
    // Pages of a tournament name the head before its seal.
    const isWhole = lines.slice(named + 1).every(({ fields: { kind } }) => kind === "seal");
    return `${record.head}: ${isWhole ? "the head that the page names" : `the page was made from the first ${named + 1} lines`}`;
  };
  const rowsOf = (found, isJudged) => {
    const first = found.lines[0]?.fields;
    const isWhole = !found.findings.length;
    return [
      ...found.findings.map((finding) => ["does not hold", `${finding.line === null ? "" : `line ${finding.line}: `}${finding.message}`]),
      ...(isWhole ? [["holds", found.story]] : []),
      ...(isWhole && !isJudged ? [["seal", unjudged()]] : []),
      ...(isWhole ? [["head", headOf(found.lines)]] : []),
      ...(first?.key ? [["key", `${first.key}: compare it with the key that the organiser publishes`]] : []),
    ];
  };
  const verify = async (name, read) => {
    byId("verified").replaceChildren(line("p", `${name} is being verified…`));
    byId("dealt").replaceChildren();
    byId("seed-asked").hidden = true;
    try {
      opened = new Uint8Array(await read());
      const isSignature = await verifier.findSignatures();
      const found = await verifier.verifyRecord(opened, { isSignature });
      const list = line("dl", "");
      list.className = "facts";
      for (const [label, text] of rowsOf(found, isSignature !== null)) list.append(line("dt", label), line("dd", text));
      byId("verified").replaceChildren(line("p", `${name}, by your browser:`), list);
      byId("deal").hidden = found.lines[0]?.fields.kind === "tournament"; // even if the record does not hold; then the deal's panel says so, too
    } catch (error) {
      byId("verified").replaceChildren(line("p", `${name} can't be read: ${error.message}. Choose its file instead.`));
    }
  };
  const deal = async () => {
    if (!opened) await verify(record.name, read);
    if (!opened) return;
    const seed = byId("seed").value.trim() || null;
    const found = await verifier.verifyRecord(opened, { takesUnsealed: true, seed });
    byId("seed-asked").hidden = !(seed || found.deal?.isSeedAsked);
    byId("dealt").replaceChildren(...dealAgain(found));
  };
  const read = async () => {
    if (held) return new TextEncoder().encode(JSON.parse(held));
    if (brought) return Uint8Array.from(atob(brought.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
    const answer = await fetch(record.address, { cache: "no-store" });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return answer.arrayBuffer();
  };
  const page = name === data.tournament ? data.report : name?.replace(/jsonl$/, "html");
  if (name) byId("asked")?.append(Object.assign(line("a", name), { href: page }));
  // A page that was opened as a file may not read other files by itself.
  const isThere = Boolean(held || brought || (record.address && location.protocol.startsWith("http")));
  byId("verify").hidden = byId("deal").hidden = !isThere;
  byId("verify").addEventListener("click", () => verify(record.name, read));
  byId("deal").addEventListener("click", deal);
  byId("seed").addEventListener("change", deal);
  if (isThere && name) (isDealAsked ? deal : () => verify(record.name, read))();
  byId("verify-file").addEventListener("change", ({ target: { files } }) => {
    if (files.length) verify(files[0].name, () => files[0].arrayBuffer());
  });
})();
