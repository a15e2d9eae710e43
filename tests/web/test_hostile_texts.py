"""Texts of strangers on every page: none is active, and no page lets another script run."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.web.routes import make_app
from referee.web.submissions.store import CheckOutcome
from referee.web.visitors import HEADERS as SITE_HEADERS

from .sites import NOW, PAYLOAD, TestSite
from .submissions.receptions import archive

HANDLER = re.compile(r"on\w+", re.IGNORECASE)
FETCHES = ("src", "srcset", "data", "poster", "background", "style", "formaction", "xlink:href", "ping", "srcdoc")
TAGS = {"base", "embed", "iframe", "img", "link", "object", "video", "audio"}
OWN = re.compile(r"(\.{1,2}/(?!/)|#|\?|key\.pem|api/|tournaments/|live|search|sign-in|sign-up)")
"""Links are relative, because a web server in front may show the site below a path of its own."""
LINK = "http://other.host/b.png"
"""Links in the organiser's own words on the first page; only a click leads there."""
STEP = {
    "number": 1,
    "title": PAYLOAD,
    "verdict": "failed",
    "note": PAYLOAD,
    "trouble": {
        "happened": PAYLOAD,
        "expected": PAYLOAD,
        "remedy": PAYLOAD,
        "asked": [{"length": 1, "hex": PAYLOAD, "decoded": PAYLOAD}],
        "received": {"length": 1, "hex": PAYLOAD, "decoded": PAYLOAD},
        "printed": f"{PAYLOAD}\n{PAYLOAD}",
    },
}
EXAMPLES = {"<number>": "1", "<path:name>": "none", "<name>": "cup", "<path:rest>": "report.html"}


class Page(HTMLParser):
    """Everything on a page that a browser would run, or fetch from elsewhere.

    Args:
        page: as it came.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.alive = list[str]()
        self.policy = ""
        self.scripts = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that a browser would act on."""
        named: dict[str, Any] = dict(attrs)
        self.scripts += tag == "script"
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"]
        self.alive += [tag] if tag in TAGS else []
        self.alive += [f"{tag} {name}" for name in named if HANDLER.fullmatch(name) or name in FETCHES]
        self.alive += [named[name] for name in ("href", "action") if name in named and not OWN.match(named[name])]


def pages_of(contest: TestSite) -> list[str]:
    """Return the addresses of all pages."""
    rules = make_app(contest.content, contest.members).url_map.iter_rules()
    paths = {rule.rule for rule in rules if "GET" in (rule.methods or ())}
    for part, example in EXAMPLES.items():
        paths = {path.replace(part, example) for path in paths}
    files = ("/tournaments/cup/report.html",)  # made by the report, and tested there
    return sorted(path for path in paths if "events" not in path and path not in files)


@pytest.mark.parametrize("name", ["", "ada", "ann"])
def test_no_text_of_others_is_alive(contest: TestSite, name: str) -> None:
    """This is tried on each page of a visitor, an author and an organiser."""
    contest.store.hand_in("ada", archive(), NOW)
    verdict = CheckOutcome(passed=False, report={"steps": [STEP]}, trouble=PAYLOAD, failed_steps=(PAYLOAD,))
    contest.store.conclude("ada", 1, verdict, NOW)
    browser = contest.signed_in(name) if name else contest.visitor()
    shown = 0
    for path in pages_of(contest):
        answer = browser.ask("GET", path)
        if not answer.headers["content-type"].startswith("text/html") or not answer.body:
            continue
        text = answer.body.decode()
        page = Page(text)
        assert (path, [found for found in page.alive if found != LINK]) == (path, [])
        assert page.scripts == 2, "its data and its own script"
        assert "<script>alert" not in text
        assert "\u202e" not in text
        assert "default-src 'none'; script-src 'sha256-" in page.policy
        assert "unsafe" not in page.policy
        shown += "&lt;script&gt;alert(1)" in text
    assert shown >= 1, "the payload was there"


HOSTILE_PATHS = [
    "/author/versions/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    "/author/matches/..%2f..%2fauthors",
    "/author/matches/%2e%2e/%2e%2e/organisers.toml?seat=0&turn=<script>",
    "/author/versions/1%0d%0aSet-Cookie:%20session=x",
    "/organiser/tournaments/..%2f..%2fsecret",
    "/organiser/tournaments/%0d%0aLocation:%20http:%2f%2fother.host",
    "/submissions/..%2fbob%2f1",
    "/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E%0d%0aX-A:%20b",
    "/search?q=<script>alert(1)</script>%ff",
    "/search?q=cup-1",
    "/sign-in?token=%0d%0aX-A:%20b",
]


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_hostile_addresses_reach_nothing(contest: TestSite, path: str) -> None:
    """They get no file, no header of their own, and no active text."""
    for name in ("ada", "ann"):
        answer = contest.signed_in(name).ask("GET", path)
        assert answer.status in (200, 303, 401, 404)
        assert not {"x-a", "set-cookie"} & answer.headers.keys() or "/sign-in" in path
        assert "other.host" not in answer.headers.get("location", "")
        assert b"<script>alert" not in answer.body
        assert b"SHA-256 of the token" not in answer.body


METHODS = st.sampled_from([b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"get", b"X"])
PARTS = st.sampled_from(
    [b"/", b"author", b"organiser", b"submissions", b"matches", b"tournaments", b"cup", b"..", b"1"]
)
ODD = st.sampled_from(
    [b"%00", b"%0d%0a", b"%2f", b"%ff", b"<script>alert(1)", b"?seat=9", b"&turn=x", b"//", b"\xe2\x80\xae"]
)
TYPES = st.sampled_from([b"multipart/form-data; boundary=x", b"multipart/form-data", b"text/html", b"\xff", b""])
BODIES = st.binary(max_size=300) | st.just(b"--x\r\n" * 50) | st.just(b"form_token=" + b"a" * 20_000)
HEADERS = st.sampled_from([b"Cookie: session=%s", b"Authorization: Bearer %s", b"Host: %s", b"X-Forwarded-For: %s"])


@pytest.fixture
def cookies(contest: TestSite) -> list[str]:
    """Return the cookies of an author and of the organiser."""
    return [contest.signed_in(name).cookies["session"] for name in ("ada", "ann")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(data=st.data())
def test_hostile_requests_do_no_harm(
    contest: TestSite, cookies: list[str], capsys: pytest.CaptureFixture[str], data: st.DataObject
) -> None:
    """Whoever sends them, nothing fails inside, nothing is stored, and each answer has the site's headers."""
    path = b"/" + b"".join(data.draw(st.lists(PARTS | ODD, max_size=6)))
    body = data.draw(BODIES)
    lines = [data.draw(METHODS) + b" " + path + b" HTTP/1.0"]
    lines += [b"Cookie: session=" + data.draw(st.sampled_from(cookies)).encode()]
    lines += [header % data.draw(st.binary(max_size=20)) for header in data.draw(st.lists(HEADERS, max_size=3))]
    lines += [b"Content-Type: " + data.draw(TYPES), b"Content-Length: %d" % len(body), b"", body]
    answer = contest.visitor().send(b"\r\n".join(lines))
    has_headers = all(f"\r\n{header}: ".encode() in answer for header in SITE_HEADERS)
    assert has_headers or answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.0 400 ")) or not answer
    assert b"<script>alert" not in answer
    assert [event for event, _ in contest.noted if event == "page-failed"] == []
    assert contest.store.versions("ada") == []
    assert capsys.readouterr().err == "", "nobody fills what the organiser reads"
