"""One table of who may ask what; an address that is not in it is a fault."""

from enum import Flag, auto

import msgspec
import pytest
from msgspec import Struct

from referee.site.routes import addresses_of

from ..submissions.receptions import archive
from .sites import Browser, TestSite


class Who(Flag):
    """Who asks."""

    VISITOR = auto()
    AUTHOR = auto()
    """Whose the thing is."""
    OTHER = auto()
    """Another author."""
    ORGANISER = auto()
    PROGRAM = auto()
    """The author's, with its token and without a session."""
    ORGANISERS_PROGRAM = auto()


EVERYBODY = Who(63)
AUTHORS = Who.AUTHOR | Who.OTHER
PROGRAMS = Who.PROGRAM | Who.ORGANISERS_PROGRAM


class Address(Struct, frozen=True):
    """An address, and who may ask it."""

    may: Who
    example: str = ""
    """A path of ada's; empty: the rule is one itself."""


TABLE = {
    "GET /": Address(EVERYBODY),
    "GET /index.html": Address(EVERYBODY),
    "GET /api/contest": Address(EVERYBODY),
    "GET /api/events": Address(EVERYBODY),
    "GET /api/openapi.json": Address(EVERYBODY),
    "GET /api/tournaments/<name>": Address(EVERYBODY, "/api/tournaments/cup"),
    "GET /api/practice": Address(Who.PROGRAM),
    "POST /api/practice": Address(Who.PROGRAM),
    "GET /api/queue": Address(PROGRAMS),
    "GET /api/organiser": Address(Who.ORGANISERS_PROGRAM),
    "GET /api/organiser/authors": Address(Who.ORGANISERS_PROGRAM),
    "GET /api/organiser/log": Address(Who.ORGANISERS_PROGRAM),
    "POST /api/organiser/authors": Address(Who.ORGANISERS_PROGRAM),
    "POST /api/organiser/authors/shut-out": Address(Who.ORGANISERS_PROGRAM),
    "POST /api/organiser/tournaments/<name>/start": Address(
        Who.ORGANISERS_PROGRAM, "/api/organiser/tournaments/cup/start"
    ),
    "POST /api/organiser/tournaments/<name>/pause": Address(
        Who.ORGANISERS_PROGRAM, "/api/organiser/tournaments/cup/pause"
    ),
    "POST /api/organiser/tournaments/<name>/rule": Address(
        Who.ORGANISERS_PROGRAM, "/api/organiser/tournaments/cup/rule"
    ),
    "GET /search": Address(EVERYBODY, "/search?q=bob"),
    "GET /api/search": Address(EVERYBODY, "/api/search?q=bob"),
    "GET /live": Address(EVERYBODY),
    "GET /api/live": Address(EVERYBODY),
    "GET /api/live/events": Address(EVERYBODY),
    "GET /key.pem": Address(EVERYBODY),
    "GET /tournaments/<name>/<path:rest>": Address(EVERYBODY, "/tournaments/cup/report.html"),
    "GET /sign-in": Address(EVERYBODY),
    "POST /sign-in": Address(Who.VISITOR | PROGRAMS),
    "GET /sign-up": Address(EVERYBODY),
    "POST /sign-up": Address(EVERYBODY),
    "POST /api/sign-up": Address(EVERYBODY),
    "POST /sign-out": Address(AUTHORS | Who.ORGANISER),
    "GET /submissions": Address(Who.PROGRAM),
    "PUT /submissions": Address(Who.PROGRAM),
    "GET /submissions/<path:rest>": Address(Who.PROGRAM, "/submissions/1"),
    "PUT /submissions/<path:rest>": Address(Who.PROGRAM, "/submissions/1/present"),
    "GET /matches": Address(Who.PROGRAM),
    "PUT /matches": Address(Who(0)),
    "GET /matches/<path:rest>": Address(Who(0), "/matches/none"),
    "PUT /matches/<path:rest>": Address(Who(0), "/matches/none"),
    "GET /author": Address(AUTHORS),
    "GET /author/events": Address(AUTHORS),
    "GET /author/matches": Address(AUTHORS),
    "GET /author/matches/<path:name>": Address(Who(0), "/author/matches/none"),
    "GET /author/practice": Address(AUTHORS),
    "GET /author/queue": Address(AUTHORS),
    "POST /author/practice": Address(AUTHORS),
    "GET /author/practice/<number>/replay": Address(Who.AUTHOR, "/author/practice/7/replay"),
    "GET /author/practice/<number>/seat": Address(Who.AUTHOR, "/author/practice/7/seat"),
    "GET /author/practice/<number>/events": Address(Who.AUTHOR, "/author/practice/7/events"),
    "POST /author/practice/<number>/accept": Address(AUTHORS, "/author/practice/bob.3/accept"),
    "POST /author/practice/<number>/give-up": Address(AUTHORS, "/author/practice/bob.3/give-up"),
    "POST /author/practice/<number>/<what>": Address(Who.AUTHOR, "/author/practice/7/undo?turn=1&at=0"),
    "POST /author/hand-in": Address(AUTHORS),
    "GET /author/versions/<number>": Address(Who.AUTHOR, "/author/versions/1"),
    "GET /organiser": Address(Who.ORGANISER),
    "GET /organiser/authors": Address(Who.ORGANISER),
    "GET /organiser/contest.tar": Address(Who.ORGANISER),
    "GET /organiser/queue": Address(Who.ORGANISER),
    "GET /organiser/hosts": Address(Who.ORGANISER),
    "GET /api/organiser/hosts": Address(Who.ORGANISERS_PROGRAM),
    "GET /organiser/events": Address(Who.ORGANISER),
    "GET /organiser/log": Address(Who.ORGANISER),
    "GET /organiser/tournaments/<name>": Address(Who.ORGANISER, "/organiser/tournaments/cup"),
    "POST /organiser/authors": Address(Who.ORGANISER),
    "POST /organiser/authors/shut-out": Address(Who.ORGANISER),
    "POST /organiser/tournaments/<name>/pause": Address(Who.ORGANISER, "/organiser/tournaments/cup/pause"),
    "POST /organiser/tournaments/<name>/rule": Address(Who.ORGANISER, "/organiser/tournaments/cup/rule"),
    "POST /organiser/tournaments/<name>/start": Address(Who.ORGANISER, "/organiser/tournaments/cup/start"),
    "POST /author/versions/<number>/play": Address(Who.AUTHOR, "/author/versions/1/play"),
}
PROGRAM_OF = {Who.PROGRAM: "ada", Who.ORGANISERS_PROGRAM: "ann"}
"""Whose token a program brings."""
BODIES = {
    "/api/sign-up": {"name": "eve", "invitation": "code"},
    "/api/practice": {"tournament": "cup", "version": 1, "opponent": "house:greedy"},
    "/api/organiser/authors": {"name": "eve", "renew": True},
    "/api/organiser/authors/shut-out": {"name": "eve"},
    "/api/organiser/tournaments/cup/start": {},
    "/api/organiser/tournaments/cup/pause": {},
    "/api/organiser/tournaments/cup/rule": {"kind": "stop", "reason": "the hall closes"},
}
"""That programs post."""
STRANGERS = ("/sign-in", "/sign-up")
"""Pages whose forms are for who is not signed in."""
PAGES = {Who.AUTHOR: "/author", Who.OTHER: "/author", Who.ORGANISER: "/organiser"}
"""That have a form."""
REFUSALS = (401, 403, 404, 405)


def test_the_table_has_all_addresses(contest: TestSite) -> None:
    """And no other one."""
    rules = list(addresses_of(contest.content, contest.members).url_map.iter_rules())
    assert len({rule.endpoint for rule in rules}) == len(rules), "of two functions of one name, one answers for both"
    assert {f"{method} {rule.rule}" for rule in rules for method in (rule.methods or set()) - {"HEAD"}} == set(TABLE)


@pytest.fixture
def everybody(contest: TestSite) -> dict[Who, Browser]:
    """Return everybody who may ask; ada has handed in a program that passed."""
    version, _ = contest.store.hand_in("ada", archive(), "2026-11-01T10:00:00Z")
    entry = contest.store.root / ".versions" / "ada" / f"{version.number:04}" / "version.json"
    entry.write_bytes(entry.read_bytes().replace(b'"waiting"', b'"passed"'))
    return {
        Who.VISITOR: contest.visitor(),
        Who.AUTHOR: contest.signed_in("ada"),
        Who.OTHER: contest.signed_in("bob"),
        Who.ORGANISER: contest.signed_in("ann"),
        **{who: contest.visitor() for who in PROGRAM_OF},
    }


@pytest.mark.parametrize("rule", TABLE)
def test_who_may(contest: TestSite, everybody: dict[Who, Browser], rule: str) -> None:
    """All others are refused, or asked to sign in; and nobody without the token of a form does anything."""
    address = TABLE[rule]
    method, path = rule.split(" ")
    if path.startswith("/tournaments"):
        method = "HEAD"  # a file's content is sent by a loop that runs
    path = address.example or path
    may = Who(0)
    for who, browser in everybody.items():
        bearer = {"authorization": f"Bearer {contest.tokens[PROGRAM_OF[who]]}"} if who in PROGRAM_OF else {}
        if method == "POST":
            page = path if path in STRANGERS else PAGES.get(who, "/sign-in")
            form = {"token": contest.tokens["ada"], "name": "eve", "invitation": contest.sign_up.CODE}
            if path in BODIES:
                body = msgspec.json.encode(BODIES[path])
                answer = browser.ask("POST", path, body, content_type="application/json", **bearer)
            else:
                assert path in STRANGERS or browser.ask("POST", path, b"a=b", **bearer).status == 403
                answer = browser.fill_in(page, path, **form)
        else:
            answer = browser.ask(method, path, archive() if rule == "PUT /submissions" else b"", **bearer)
        is_asked_to_sign_in = answer.headers.get("location") == "/sign-in"
        may |= Who(0) if answer.status in REFUSALS or is_asked_to_sign_in else who
    assert may == address.may
