// Verifies a record in the browser: the one that its page was made from, or a file that the reader chooses. The page
// of a match that stands alone names its record in its data; else the link that leads here names it, and its head.
"use strict";
(() => {
  const [, name, head] = location.hash.match(/^#([\w.-]+\.jsonl)=([0-9a-f]{64})$/) ?? [];
  const record = JSON.parse(document.getElementById("data").textContent)?.record ?? { name, head, address: name && `../${name}` };
  const byId = (id) => document.getElementById(id);
  const line = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });

  const unjudged = () => {
    if (!globalThis.isSecureContext) return "NOT JUDGED: browsers judge signatures only on pages that come over https";
    return "NOT JUDGED: this browser has no Ed25519; Chromium has it since version 137";
  };
  const rowsOf = (found, isJudged) => {
    const [first, last] = [found.lines[0]?.fields, found.lines.at(-1)];
    const isWhole = !found.findings.length;
    const same = last?.hash === record.head ? "the one that the page of the match names" : `the page of the match was made from another record, up to ${record.head}`;
    return [
      ...found.findings.map((finding) => ["does not hold", `${finding.line ? `line ${finding.line}: ` : ""}${finding.message}`]),
      ...(isWhole ? [["holds", found.story]] : []),
      ...(isWhole && !isJudged ? [["seal", unjudged()]] : []),
      ...(isWhole ? [["head", `${last.hash}${record.head ? `: ${same}` : ""}`]] : []),
      ...(first?.key ? [["key", `${first.key}: compare it with the one that the organiser publishes`]] : []),
    ];
  };
  const verify = async (name, read) => {
    byId("verified").replaceChildren(line("p", `${name} is being verified…`));
    try {
      const isSignature = await verifier.findSignatures();
      const found = await verifier.verifyRecord(new Uint8Array(await read()), { isSignature });
      const list = line("dl", "");
      list.className = "facts";
      for (const [label, text] of rowsOf(found, isSignature !== null)) list.append(line("dt", label), line("dd", text));
      byId("verified").replaceChildren(line("p", `${name}, by your browser:`), list);
    } catch (error) {
      byId("verified").replaceChildren(line("p", `${name} can't be read: ${error.message}. Choose its file instead.`));
    }
  };
  const fetched = async () => {
    const answer = await fetch(record.address, { cache: "no-store" });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return answer.arrayBuffer();
  };
  if (name) byId("asked")?.append(Object.assign(line("a", name), { href: name.replace(/jsonl$/, "html") }));
  // A page that was opened as a file may read no other one by itself.
  byId("verify").hidden = !(record.address && location.protocol.startsWith("http"));
  byId("verify").addEventListener("click", () => verify(record.name, fetched));
  if (!byId("verify").hidden) byId("verify").click();
  byId("verify-file").addEventListener("change", ({ target: { files } }) => {
    if (files.length) verify(files[0].name, () => files[0].arrayBuffer());
  });
})();
