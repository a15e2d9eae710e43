"""Three people go through a whole contest in a browser: an author, an organiser, and a visitor.

The author's first program can't be built. Its second one passes its check and practises well, and crashes in each rated
match, for there alone it has its author's name.
"""

from pathlib import Path
from urllib.parse import urlsplit

from referee.cli.commands.new import make_player
from referee.net.links.tokens import add_tokens
from referee.web.contest.contest_file import CONTEST
from referee.web.submissions.archive import pack
from referee.web.submissions.folder import gather

from ..pages.browser import Page
from ..pages.matches import IMAGE, SCRIPT

HOSTILE = SCRIPT + IMAGE
"""Text in the output of the author's programs, and in the organiser's reason."""
FILES = {
    CONTEST: """\
title = "Autumn course"
about = "We play **Quincy**."
spectators = "board only"
practice = true
sign_up = "open"
[[tournaments]]
file = "final.toml"
start = 2999-01-01T00:00:00Z
""",
    "final.toml": """\
name = "final"
game = "quincy"
seats = 2
sandbox = "off"
entrants_from = "submissions"
entrants = ["house:greedy", "house:search"]
[format]
name = "roundrobin"
cycles = 1
""",
}
BEGIN = "static void choose(const char *game, const struct value *view, struct buffer *move) {\n"
CRASH = """
    const char *own_name = getenv("REFEREE_NAME");
    if (own_name && !strcmp(own_name, "ada")) {
        static int asked;
        thrd_sleep(&(struct timespec){.tv_nsec = 400000000}, NULL);
        if (++asked == 5) {
            fputs("I give up HOSTILE\\n", stderr);
            exit(3);
        }
    }
""".replace("HOSTILE", HOSTILE)
"""Enough time to watch."""


class Tour:
    """A contest, and a browser that each person uses in turn.

    Args:
        folder: an empty one; it gets the contest, and what the author hands in.
        page: the browser.
    """

    def __init__(self, folder: Path, page: Page) -> None:
        self.contest = folder / "contest"
        self.contest.mkdir()
        for name, text in FILES.items():
            (self.contest / name).write_text(text)
        self._page = page
        self._tokens = add_tokens(self.contest / "authors.toml", ["ada"], may_renew=False)
        self._tokens |= add_tokens(self.contest / "organisers.toml", ["ann"], may_renew=False)
        make_player("c", folder / "player")
        (folder / "player" / "player.toml").write_text(
            'name = "own"\nbuild = "make"\nrun = "./player"\ngames = ["quincy"]\n'
        )
        code = (folder / "player" / "player.c").read_text()
        assert BEGIN in code
        self.broken = self._packed(folder, "broken", f"#error oops {HOSTILE}\n{code}")
        mended = code.replace(BEGIN, f"#include <threads.h>\n{BEGIN}{CRASH}")
        self._packed(folder, "mended", mended)
        self.mended = folder / "player"
        self._site = self._organisers_site = ""

    def _packed(self, folder: Path, name: str, code: str) -> Path:
        (folder / "player" / "player.c").write_text(code)
        path = folder / f"{name}.tar.gz"
        path.write_bytes(pack(gather(folder / "player").entries))
        return path

    def goes_on(self, site: str) -> None:
        """Note the address of the site; the organiser's browser has another name for it."""
        self._site, self._organisers_site = site, site.replace("127.0.0.1", "localhost")

    # --- who goes where

    def visitor(self, path: str = "") -> Page:
        """Open a page on a phone."""
        self._page.emulate(390, 844)
        self._page.visit(f"{self._site}/{path}")
        return self._page

    def author(self, path: str = "author") -> Page:
        """Open a page as the author, and sign in if asked."""
        return self._person(self._site, "ada", path)

    def organiser(self, path: str = "organiser") -> Page:
        """Open a page as the organiser, and sign in if asked."""
        return self._person(self._organisers_site, "ann", path)

    def _person(self, site: str, name: str, path: str) -> Page:
        page = self._page
        page.emulate(1280, 800)
        page.visit(f"{site}/{path}")
        if page.text("h1") == "Sign in":
            page.write("token", self._tokens[name])
            page.send(urlsplit(f"{site}/sign-in").path)
            page.visit(f"{site}/{path}")
        return page

    def sign_in_elsewhere(self, way: str) -> None:
        """Sign in as the author in another window, and return to the first one."""
        with self._page.other_window():
            self._page.visit(way)
            self._page.write("token", self._tokens["ada"])
            self._page.send(urlsplit(f"{self._site}/sign-in").path)
            assert self._page.run("return document.querySelector('.site-bar form') !== null")

    def alive(self) -> list[str]:
        """Return the hostile texts that the open page has taken for markup."""
        taken = "[...document.querySelectorAll('[src=x], [onerror]')].map((element) => element.outerHTML)"
        return list(self._page.run(f"return {taken}.concat(window.broken ?? [])"))

    # --- what they do there

    def hand_in(self, program: Path, verdict: str) -> Page:
        """Hand a program's archive or folder in as its author, and wait for the verdict."""
        page = self.author()
        page.choose("folder" if program.is_dir() else "archive", program)
        page.send("/author/hand-in")
        page.wait_until(f"document.querySelector('#state.{verdict}')")
        return page

    def practise(self) -> Page:
        """Request a practice match as the author, and wait until it is over."""
        page = self.author("author/practice")
        page.send("/author/practice")
        page.wait_until("document.querySelector('#live td a')")
        return page

    def sit_down(self) -> Page:
        """Request a practice match in person as the author, and wait until it is the author's turn."""
        page = self.author("author/practice")
        page.send("/author/practice", -1)
        page.wait_until("document.body.classList.contains('asked')")
        return page

    def decide(self, action: str) -> Page:
        """Start or pause the tournament as the organiser, and wait until that is done."""
        page = self.organiser()
        page.send(f"/organiser/tournaments/final/{action}")
        shown = {"start": "running", "pause": "paused by the organiser"}[action]
        page.wait_until(f"document.querySelector('.badge').textContent === '{shown}'")
        return page

    def award(self, match: str, reason: str) -> Page:
        """Award a match to the author as the organiser."""
        page = self.organiser("organiser/tournaments/final")
        page.select("kind-match", "award")
        page.select("to", "ada")
        page.write("subject-match", match)
        page.write("reason-match", reason)
        page.send("/organiser/tournaments/final/rule", 1)
        return page
