"""One table of who may ask for what; an address that is not in it is a fault."""

from dataclasses import replace
from enum import Flag, auto

import msgspec
import pytest
from msgspec import Struct

from referee.net.links.tokens import add_tokens
from referee.record.reader import read_record
from referee.web.routes import make_app
from referee.web.sessions import IDLE_S
from referee.web.submissions.store import CheckOutcome

from ..record.records import tell
from .sites import NOW, Answer, Browser, TestSite
from .submissions.receptions import archive


class Who(Flag):
    """Kinds of visitors."""

    VISITOR = auto()
    AUTHOR = auto()
    """Ada, the owner."""
    OTHER = auto()
    """Another author."""
    ORGANISER = auto()
    PROGRAM = auto()
    """Ada's program, with her token and without a session."""
    OTHERS_PROGRAM = auto()
    ORGANISERS_PROGRAM = auto()
    EXPIRED = auto()
    """A session of ada's that was unused for too long."""
    STOLEN = auto()
    """A session of ada's that was copied before she signed out."""
    FIXED = auto()
    """A session that somebody else chose before ada signed in with it."""
    OLD = auto()
    """A session of ada's that began with a token which she has renewed."""
    OLD_PROGRAM = auto()
    """A program with this old token."""


EVERYBODY = ~Who(0)
AUTHORS = Who.AUTHOR | Who.OTHER
AUTHORS_PROGRAMS = Who.PROGRAM | Who.OTHERS_PROGRAM
STRANGERS = EVERYBODY & ~(AUTHORS | Who.ORGANISER)
"""A visitor who is not signed in."""


class Address(Struct, frozen=True):
    """An address, and the people who may ask for it."""

    may: Who
    examples: str = ""
    """Ada's paths; none: the rule is a path itself."""


TABLE = {
    "GET /": Address(EVERYBODY),
    "GET /index.html": Address(EVERYBODY),
    "GET /api/contest": Address(EVERYBODY),
    "GET /api/events": Address(EVERYBODY),
    "GET /api/openapi.json": Address(EVERYBODY),
    "GET /api/tournaments/<name>": Address(EVERYBODY, "/api/tournaments/cup"),
    "GET /api/practice": Address(AUTHORS_PROGRAMS),
    "POST /api/practice": Address(AUTHORS_PROGRAMS),
    "GET /api/queue": Address(AUTHORS_PROGRAMS | Who.ORGANISERS_PROGRAM),
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
    "GET /standings": Address(EVERYBODY),
    "GET /visitor": Address(EVERYBODY),
    "GET /search": Address(EVERYBODY, "/search?q=bob"),
    "GET /api/search": Address(EVERYBODY, "/api/search?q=bob"),
    "GET /live": Address(EVERYBODY),
    "GET /api/live": Address(EVERYBODY),
    "GET /api/live/events": Address(EVERYBODY),
    "GET /key.pem": Address(EVERYBODY),
    "GET /robots.txt": Address(EVERYBODY),
    "GET /favicon.ico": Address(EVERYBODY),
    "GET /preview.png": Address(EVERYBODY),
    "GET /tournaments/<name>/<path:rest>": Address(EVERYBODY, "/tournaments/cup/report.html"),
    "GET /sign-in": Address(EVERYBODY),
    "POST /sign-in": Address(STRANGERS),
    "GET /sign-up": Address(EVERYBODY),
    "POST /sign-up": Address(EVERYBODY),
    "POST /api/sign-up": Address(EVERYBODY),
    "POST /sign-out": Address(AUTHORS | Who.ORGANISER),
    "GET /submissions": Address(AUTHORS_PROGRAMS),
    "PUT /submissions": Address(AUTHORS_PROGRAMS),
    "GET /submissions/<path:rest>": Address(Who.PROGRAM, "/submissions/1"),
    "PUT /submissions/<path:rest>": Address(Who.PROGRAM, "/submissions/1/present"),
    "GET /matches": Address(AUTHORS_PROGRAMS),
    "GET /matches/<path:rest>": Address(
        Who.PROGRAM, "/matches/cup%2Fcup-7 /matches/cup%2Fcup-7/record /matches/cup%2Fcup-7/printed"
    ),
    "GET /author": Address(AUTHORS),
    "GET /author/events": Address(AUTHORS),
    "GET /author/matches": Address(AUTHORS),
    "GET /author/matches/<path:name>": Address(
        Who.AUTHOR, "/author/matches/cup/cup-7 /author/matches/cup/cup-7?turn=1"
    ),
    "GET /author/printed/<path:name>": Address(Who.AUTHOR, "/author/printed/cup/cup-7"),
    "GET /author/practice": Address(AUTHORS),
    "GET /author/queue": Address(AUTHORS),
    "POST /author/practice": Address(AUTHORS),
    "GET /author/practice/<number>/replay": Address(Who.AUTHOR, "/author/practice/7/replay"),
    "GET /author/practice/<number>/seat": Address(Who.AUTHOR, "/author/practice/7/seat"),
    "GET /author/practice/<number>/events": Address(Who.AUTHOR, "/author/practice/7/events"),
    "POST /author/practice/<number>/give-up": Address(AUTHORS, "/author/practice/3/give-up"),
    "POST /author/practice/<number>/<what>": Address(Who.AUTHOR, "/author/practice/7/undo?turn=1&at=0"),
    "POST /author/hand-in": Address(AUTHORS),
    "POST /author/appeal": Address(AUTHORS),
    "POST /author/mail": Address(AUTHORS),
    "GET /author/versions/<number>/archive": Address(Who.AUTHOR, "/author/versions/1/archive"),
    "GET /feed.atom": Address(EVERYBODY),
    "POST /organiser/announce": Address(Who.ORGANISER),
    "POST /organiser/take-back": Address(Who.ORGANISER),
    "POST /organiser/tournaments/<name>/reject": Address(Who.ORGANISER, "/organiser/tournaments/cup/reject"),
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
BODIES = {
    "/api/sign-up": {"name": "eve", "invitation": "code"},
    "/api/practice": {"tournament": "cup", "version": 1, "opponent": "house:greedy"},
    "/api/organiser/authors": {"name": "eve", "renew": True},
    "/api/organiser/authors/shut-out": {"name": "eve"},
    "/api/organiser/tournaments/cup/start": {},
    "/api/organiser/tournaments/cup/pause": {},
    "/api/organiser/tournaments/cup/rule": {"kind": "stop", "reason": "the hall closes"},
}
"""Bodies that programs post."""
FOR_STRANGERS = ("/sign-in", "/sign-up")
"""Pages with forms for visitors who are not signed in."""
PAGES = {Who.AUTHOR: "/author", Who.OTHER: "/author", Who.ORGANISER: "/organiser"}
"""Pages with a form."""
SECRET = "what ada alone is told"
REFUSALS = (401, 403, 404, 405)


def test_the_table_has_all_addresses(contest: TestSite) -> None:
    """It has no other addresses."""
    rules = list(make_app(contest.content, contest.members).url_map.iter_rules())
    assert len({rule.endpoint for rule in rules}) == len(rules), "of two functions of one name, one answers for both"
    assert {f"{method} {rule.rule}" for rule in rules for method in (rule.methods or set()) - {"HEAD"}} == set(TABLE)


def lay_out(contest: TestSite) -> None:
    """Make a version of ada's that has passed, and a match of hers in which her program printed something."""
    contest.store.hand_in("ada", archive(), NOW)
    steps = {"steps": [{"number": 1, "title": SECRET, "verdict": "ok"}]}
    contest.store.conclude("ada", 1, CheckOutcome(passed=True, report=steps), NOW)
    logs = contest.folder / "logs" / "cup"
    own = {"programs": [str(contest.store.root / "ada"), "house:dag", "house:dag"]}
    replace(tell("clean"), header=own).write(logs / "cup-7.jsonl")
    (logs / "cup-7.seat0.a.stderr").write_text(SECRET)


@pytest.fixture
def everybody(contest: TestSite) -> dict[Who, Browser]:
    """Return a browser for each kind of visitor."""
    lay_out(contest)
    old_program = contest.program("ada")
    expired, old = contest.signed_in("ada"), contest.signed_in("ada")
    contest.clock.advance(IDLE_S - 1)
    assert old.ask("GET", "/author").status == 200
    contest.clock.advance(2)
    contest.tokens |= add_tokens(contest.folder / "authors.toml", ["ada"], may_renew=True)
    owner, fixed, stolen = contest.signed_in("ada"), contest.visitor(), contest.visitor()
    stolen.cookies |= owner.cookies
    owner.fill_in("/author", "/sign-out")
    fixed.cookies["session"] = owner.cookies["session"] = "chosen"
    assert owner.sign_in(contest.tokens["ada"]).status == 303
    return {
        Who.VISITOR: contest.visitor(),
        Who.AUTHOR: owner,
        Who.OTHER: contest.signed_in("bob"),
        Who.ORGANISER: contest.signed_in("ann"),
        Who.PROGRAM: contest.program("ada"),
        Who.OTHERS_PROGRAM: contest.program("bob"),
        Who.ORGANISERS_PROGRAM: contest.program("ann"),
        Who.EXPIRED: expired,
        Who.STOLEN: stolen,
        Who.FIXED: fixed,
        Who.OLD: old,
        Who.OLD_PROGRAM: old_program,
    }


@pytest.mark.parametrize("rule", TABLE)
def test_who_may(contest: TestSite, everybody: dict[Who, Browser], rule: str) -> None:
    """All others are refused, or asked to sign in, and see nothing of ada's; without a form's token nobody acts."""
    assert set(everybody) == set(Who)
    method, path = rule.split(" ")
    for example in TABLE[rule].examples.split() or [path]:
        may = Who(0)
        for who, browser in everybody.items():
            answer = asked(contest, browser, method, example, PAGES.get(who, "/sign-in"))
            is_asked_to_sign_in = answer.headers.get("location", "").startswith("/sign-in?back=")
            may |= Who(0) if answer.status in REFUSALS or is_asked_to_sign_in else who
            assert who in Who.AUTHOR | Who.PROGRAM or SECRET.encode() not in answer.body
        assert may == TABLE[rule].may


def asked(contest: TestSite, browser: Browser, method: str, path: str, page: str) -> Answer:
    """Return the answer to a visitor, with the right form token if it has one.

    Args:
        contest: contest that gets the request.
        browser: browser of the visitor.
        method: method of the request.
        path: path of the request.
        page: page with a form that the visitor may see.
    """
    if path.startswith("/tournaments"):
        method = "HEAD"  # a running loop sends a file's content
    if method != "POST":
        return browser.ask(method, path, archive() if (method, path) == ("PUT", "/submissions") else b"")
    if path in BODIES:
        return browser.ask("POST", path, msgspec.json.encode(BODIES[path]), content_type="application/json")
    if path in FOR_STRANGERS:
        page = path
    else:
        assert browser.ask("POST", path, b"a=b").status in (401, 403)
    return browser.fill_in(page, path, token=contest.tokens["ada"], name="eve", invitation=contest.sign_up.CODE)


def test_what_a_program_printed_is_plain_text(contest: TestSite, everybody: dict[Who, Browser]) -> None:
    """No browser takes it for a page; the page of the match leads to it."""
    (contest.folder / "logs" / "cup" / "cup-7.seat0.a.stderr").write_text("<script>alert(1)</script>\0\u202e")
    page = everybody[Who.AUTHOR].ask("GET", "/author/matches/cup/cup-7").body
    assert b'href="../../../author/printed/cup/cup-7?seat=0"' in page
    answers = {
        Who.AUTHOR: "/author/printed/cup/cup-7?seat=0",
        Who.PROGRAM: "/matches/cup%2Fcup-7/printed",
    }
    for who, path in answers.items():
        answer = everybody[who].ask("GET", path)
        assert answer.body == rb"<script>alert(1)</script>\x00\u202e"
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert everybody[who].ask("GET", f"{path.partition('?')[0]}?seat=1").status == 404


def test_a_list_of_matches_names_the_heads_of_their_records(contest: TestSite) -> None:
    """The list leads to the verifier only for public records."""
    lay_out(contest)
    head = read_record(contest.folder / "logs" / "cup" / "cup-7.jsonl").chain.head
    verifier = f'href="../tournaments/cup/replays/verify.html#cup-7.jsonl={head}"'
    ada = contest.signed_in("ada")
    for is_public in (False, True):
        if is_public:
            (contest.folder / "logs" / "cup" / "replays" / "cup-7.html").touch()
        page = ada.ask("GET", "/author/matches").body.decode()
        assert (f'title="{head}"' in page, verifier in page) == (True, is_public)
    practised = contest.folder / "logs" / "practice" / "ada" / "0001"
    practised.mkdir(parents=True)
    (contest.folder / "logs" / "cup" / "cup-7.jsonl").rename(practised / "practice-00001.jsonl")
    assert f'title="{head}"' in ada.ask("GET", "/author/practice").body.decode()
    assert 'href="../author/practice/1/replay">Verify it' in ada.ask("GET", "/author/matches").body.decode()


@pytest.mark.parametrize("path", ["/author/matches/cup/cup-7", "/author/versions/1"])
def test_ada_is_told_what_is_hers(contest: TestSite, everybody: dict[Who, Browser], path: str) -> None:
    """So the test above would notice it in others' answers."""
    assert SECRET.encode() in everybody[Who.AUTHOR].ask("GET", path).body
    assert contest.noted == []
