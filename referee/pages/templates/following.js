// Follows a stream of events, and shows a notice while the server does not answer. If a web server in front answers for a
// server that is down, a browser gives up the stream; this code asks again until the server is back.
const Following = (() => {
  const AGAIN_MS = 3000;
  const LOST = "The referee does not answer. This page tries again by itself; your text stays.";
  const OUT = "You are not signed in any more. Your text stays: ";

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

  // Fetches a page and returns it. If no server answers, or the page demands a sign-in, shows a notice and returns null.
  // If there is no such page, returns undefined.
  async function ask(address, isNews = () => true) {
    let answer = null;
    try {
      answer = await fetch(address, { headers: { Accept: "text/html" } });
    } catch {
      // no server answers
    }
    if (!isNews()) return null;
    if (answer?.redirected && new URL(answer.url).pathname.endsWith("/sign-in")) {
      say(OUT, element("a", "sign in in another window", { href: answer.url, target: "_blank", rel: "noopener" }), ", then come back to this window.");
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

  // A hidden tab follows nothing. When it becomes visible, the first event is the whole present state.
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
