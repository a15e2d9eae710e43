"""Takes pictures of every page of a contest, for a phone, a desk and a projector, light and dark; and runs axe-core.

Three people go through a contest in a browser, and each of their pages is opened again. Pictures go into the folder of
`--into`. With axe-core's `axe.min.js`, every page is checked by its rules, and a serious or critical violation is a
fault.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace

from referee.record.key import VARIABLE
from referee.web.contest.organising import ProcessLine
from referee.web.guarded_routes import MemberPages
from referee.web.sessions import Person, SiteRole

from ..hosted import hosted, shown_until
from ..pages.browser import Page, start_browser
from ..web.tour import Tour

WIDTHS = (360, 1280, 2560)
HEIGHT = 900
WITH_AXE = ((360, False), (1280, False), (1280, True))
"""Widths and colours for axe-core: its findings depend on both, because parts are hidden."""
GRAVE = ("serious", "critical")
NOWHERE = "nowhere"
PLAYS = "document.querySelector('.board svg') && document.querySelector('.lines')?.innerText.includes('ada')"
PUBLIC = (
    *("", "search?q=final", "sign-in", "sign-up", NOWHERE, "tournaments/final/report.html"),
    *("tournaments/final/entrants/ada.html", "tournaments/final/replays/{match}.html"),
    "tournaments/final/replays/verify.html#final.jsonl={head}",
)
AUTHORS = (
    *("author", "author/versions/1", "author/versions/2", "author/matches", "author/matches/final/{match}"),
    *("author/matches/final/{match}?turn=3", "author/practice", "author/practice/1/replay", "author/queue"),
)
ORGANISERS = (
    *("organiser", "organiser/tournaments/final", "organiser/authors", "organiser/queue", "organiser/log"),
    "organiser/hosts",
)
OWN = ProcessLine(
    tournament="final",
    name="own",
    state="plays",
    tables=None,
    matches=[],
    lag_ms=0.4,
    heard="2026-11-01T10:00:05+00:00",
)
HOSTS = (
    OWN,
    replace(OWN, name="host1", tables=8, matches=[f"final-0000{number}" for number in range(1, 9)], lag_ms=12.5),
    replace(OWN, name="a-host.example.org", state="is silent", tables=2, heard="2026-11-01T09:58:00+00:00"),
)
"""Processes of a cluster's hosts, which the contest here does not have."""


def main(arguments: list[str]) -> int:
    """Go through a contest, look at its pages, and print the findings.

    Returns:
        0 if axe-core finds no serious violation, no page is wider than its window, and none has errors in its console.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks looks", description=__doc__)
    parser.add_argument("--axe", type=Path, help="axe.min.js of axe-core")
    parser.add_argument("--into", type=Path, help="folder that takes the pictures")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ[VARIABLE] = str(folder / "key")
        (folder / "profile").mkdir()
        driver = start_browser(folder / "profile")
        try:
            looks = Looks(Page(driver), given.axe, given.into)
            look_at_hosts(looks)
            _walk(Tour(folder, looks.page), looks)
        finally:
            driver.quit()
    print(f"{len(looks.seen)} pages, each in {len(WIDTHS)} widths, light and dark: {len(looks.faults)} faults")
    print(f"axe-core held {looks.held} parts of them to its rules")
    for fault, where in looks.faults.items():
        print(f"FAULT: {fault}\n  {where[0]}, {len(where)} times")
    return int(bool(looks.faults))


class Looks:
    """Looks at pages.

    Args:
        page: the browser.
        axe: file of axe-core; None: its rules are not checked.
        into: folder that takes the pictures; None: none are taken.
    """

    def __init__(self, page: Page, axe: Path | None, into: Path | None) -> None:
        self.page = page
        self.faults: dict[str, list[str]] = {}
        self.seen = set[str]()
        self.held = 0
        self._axe = None if axe is None else axe.read_text(encoding="utf-8")
        self._into = into
        if into is not None:
            into.mkdir(parents=True, exist_ok=True)

    def at(self, name: str) -> None:
        """Look at the open page.

        Args:
            name: of the page's kind, and of its pictures.
        """
        self.seen.add(name)
        for width in WIDTHS:
            for is_dark in (False, True):
                where = f"{name}-{width}-{'dark' if is_dark else 'light'}"
                self.page.emulate(width, HEIGHT, is_dark=is_dark)
                if self.page.run("return document.documentElement.scrollWidth") > width:
                    self._fault("wider than its window", where)
                if self._axe is not None and (width, is_dark) in WITH_AXE:
                    self._hold_to_rules(where)
                if self._into is not None:
                    self.page.picture(self._into / f"{where}.png")
        for complaint in self.page.complaints():
            if "404" not in complaint["message"] or name != NOWHERE:
                self._fault(str(complaint["message"]), name)

    def _hold_to_rules(self, where: str) -> None:
        found: Any = self.page.run(f"if (!window.axe) {{ {self._axe} }}") or self.page.wait_for("axe.run(document)")
        self.held += sum(len(rule["nodes"]) for rule in (*found["passes"], *found["violations"]))
        for violation in found["violations"]:
            if violation["impact"] in GRAVE:
                for node in violation["nodes"]:
                    self._fault(f"{violation['impact']} {violation['id']}: {node['html'][:160]}", where)

    def _fault(self, fault: str, where: str) -> None:
        self.faults.setdefault(fault, []).append(where)


class _HostsPage(BaseHTTPRequestHandler):
    """Answers with the page of these hosts, and with a stream without events."""

    def do_GET(self) -> None:
        """Answer."""
        is_page = self.path == "/organiser/hosts"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8" if is_page else "text/event-stream")
        self.end_headers()
        if is_page:
            asked = SimpleNamespace(path=self.path.encode())
            page = MemberPages("Autumn course").page(
                asked, "organiser/hosts", Person(SiteRole.ORGANISER, "ann"), "", lines=HOSTS
            )
            self.wfile.write(page.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def look_at_hosts(looks: "Looks") -> None:
    """Look at the page of processes, with hosts."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _HostsPage) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        looks.page.visit(f"http://127.0.0.1:{server.server_port}/organiser/hosts")
        looks.at("organiser_hosts_of_a_cluster")
        server.shutdown()


def _walk(tour: Tour, looks: Looks) -> None:
    """Go through a contest, then look at every page of it."""
    with hosted(tour.contest) as (_, site):
        tour.goes_on(site)
        tour.hand_in(tour.broken, "failed")
        tour.hand_in(tour.mended, "passed")
        tour.practise()
        tour.sit_down()
        looks.at("seat")
        tour.decide("start")
        live = tour.visitor("live")
        live.wait_until(
            "document.querySelector('.board svg') && document.querySelector('.lines')?.innerText.includes('ada')"
        )
        match = live.text(".table .facts").split()[0]
        looks.at("live")
        shown_until(site, lambda final: final["state"] == "is over" and final["reported"] == final["played"])
        tour.award(match, "the wire broke")
        shown_until(site, lambda final: final["state"] == "is over" and final["reported"] == final["played"])
        head = shown_until(site, lambda _: True)["head"]
        looks.page.forget()
        for opened, paths in _people(tour):
            for path in paths:
                opened(path.format(match=match, head=head))
                looks.at(path.split("#")[0].replace("/", "_").replace("{match}", "match").replace("?", "_") or "home")


def _people(tour: Tour) -> Iterator[tuple[Callable[[str], Page], tuple[str, ...]]]:
    yield tour.visitor, PUBLIC
    yield tour.author, AUTHORS
    yield tour.organiser, ORGANISERS
