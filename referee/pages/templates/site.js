// A page that is the same for all visitors asks the server who is signed in, and shows the name, the desk and "Sign out".
(async () => {
  const bar = document.querySelector("[data-site]");
  if (!bar || !location.protocol.startsWith("http")) return; // a page that was opened as a file has no server
  const top = bar.dataset.site;
  const answer = await fetch(`${top}visitor`).catch(() => null);
  if (!answer?.ok) return;
  const { title, visitor } = await answer.json();
  bar.querySelector("a").textContent = title;
  const last = bar.querySelector(".last");
  if (!visitor) return (last.textContent = "Sign in");
  const make = (tag, attributes, ...children) => {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  };
  const token = make("input", { type: "hidden", name: "form_token", value: visitor.form_token });
  const desk = make("a", { href: top + visitor.desk }, visitor.name);
  last.replaceWith(make("form", { method: "post", action: `${top}sign-out` }, token, desk, " ", make("button", {}, "Sign out")));
})();
