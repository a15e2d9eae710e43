// Follows a stream of events, and says so while the host does not answer. A browser gives a stream up once a web server in
// front answers for a host that is gone; this asks again until the host is back.
const Following = (() => {
  const AGAIN_MS = 3000;
  const LOST = "The referee does not answer. This page tries again by itself; what you wrote stays.";
  const OUT = "You are not signed in any more. What you wrote stays: ";

  function element(tag, text, attributes = {}) {
    const made = document.createElement(tag);
    made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  let notice = null;
  function clear() {
    notice?.remove();
    notice = null;
  }
  function say(text, ...more) {
    clear();
    notice = element("p", text, { class: "panel notice-of-host", role: "alert" });
    notice.append(...more);
    document.body.prepend(notice);
  }

  // Asks for a page, and returns it. If nobody is there, or it is only for those who are signed in, says so and returns null;
  // if there is no such page, returns undefined.
  async function ask(address, isNews = () => true) {
    let answer = null;
    try {
      answer = await fetch(address, { headers: { Accept: "text/html" } });
    } catch {
      // nobody is there
    }
    if (!isNews()) return null;
    if (answer?.redirected && new URL(answer.url).pathname.endsWith("/sign-in")) {
      say(OUT, element("a", "sign in in another window", { href: answer.url, target: "_blank", rel: "noopener" }), ", and come back to this one.");
      return null;
    }
    if (!answer || answer.status >= 500) {
      say(LOST);
      return null;
    }
    clear();
    if (!answer.ok) return undefined;
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  // A tab that nobody sees asks for nothing; when it is seen again, the first event is how everything stands.
  function follow(address, take, { isKept = false, isOver = () => false } = {}) {
    let stream = null, due = null;
    function close() {
      stream?.close();
      stream = null;
      clearTimeout(due);
      due = null;
    }
    function open() {
      close();
      if ((document.hidden && !isKept) || isOver()) return;
      stream = new EventSource(address);
      stream.onopen = clear;
      stream.onmessage = (event) => {
        clear();
        take(event.data);
        if (isOver()) close();
      };
      stream.onerror = async () => {
        close();
        due = setTimeout(open, AGAIN_MS * (0.7 + 0.6 * Math.random())); // not all pages at once
        await ask(location.href, () => stream?.readyState !== EventSource.OPEN);
      };
    }
    document.addEventListener("visibilitychange", () => {
      if (!isKept || !stream) open();
    });
    open();
  }

  return { ask, follow };
})();
