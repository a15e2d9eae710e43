"""A site that a web server in front shows below a path: all links stay below it."""

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import msgspec
import pytest

from referee.cli.submission_client import find_service
from referee.web.routes import make_app
from referee.web.submissions.store import CheckOutcome

from .sites import NOW, TestSite
from .submissions.receptions import archive
from .test_hostile_texts import LINK, STEP, pages_of

PREFIX = "/contest"
"""Path of the site; the web server removes it before it passes a request on."""
LEADING = ("href", "action", "data-live", "src")
WRONG = ("/nothing", "/nothing/at/all", "/author/versions/9", "/author/matches/cup/none")
"""Addresses that do not exist, as deep as pages are."""


class Links(HTMLParser):
    """The links of a page.

    Args:
        page: as it came.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found = list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links of a tag."""
        named: dict[str, Any] = dict(attrs)
        self.found += [named[name] for name in LEADING if name in named and not (tag == "a" and named[name] == LINK)]


@pytest.mark.parametrize("name", ["", "ada", "ann"])
def test_every_link_stays_below_the_path(contest: TestSite, name: str) -> None:
    """Tried are links of pages, forms, streams, redirects, and error pages."""
    contest.store.hand_in("ada", archive(), NOW)
    verdict = CheckOutcome(passed=True, report={"steps": [STEP]}, trouble=None, failed_steps=())
    contest.store.conclude("ada", 1, verdict, NOW)
    browser = contest.signed_in(name) if name else contest.visitor()
    seen = set[str]()
    for path in (*pages_of(contest), *WRONG):
        answer = browser.ask("GET", path)
        links = [browser.location] if "location" in answer.headers else []
        if answer.headers["content-type"].startswith("text/html"):
            links += Links(answer.body.decode()).found
        for link in links:
            address = urljoin(f"http://host{PREFIX}{path}", link)
            assert re.match(rf"http://host{PREFIX}/", address), (path, link)
            seen.add(address.removeprefix(f"http://host{PREFIX}").partition("?")[0].partition("#")[0])
    known = [f"^{re.sub('<[^>]*path:[^>]*>', '.+', re.sub('<[^:>]*>', '[^/]+', rule))}$" for rule in rules_of(contest)]
    assert [address for address in seen if not any(re.match(rule, address) for rule in known)] == []


def rules_of(contest: TestSite) -> list[str]:
    """Return the addresses of the site, with their variables."""
    return [rule.rule for rule in make_app(contest.content, contest.members).url_map.iter_rules()]


def test_a_client_asks_below_the_path() -> None:
    """The organiser gives the address; the site's description is relative."""
    for given, prefix in (("https://host/a/b/", "/a/b"), ("https://host", ""), ("http://host:1/contest", "/contest")):
        assert find_service(given, "token", None).prefix == prefix


def test_the_description_names_where_it_is(contest: TestSite) -> None:
    """So programs generated from it ask below the path."""
    described = msgspec.json.decode(contest.visitor().ask("GET", "/api/openapi.json").body)
    (server,) = described["servers"]
    assert urljoin(f"https://host{PREFIX}/api/openapi.json", server["url"]) == f"https://host{PREFIX}/"
