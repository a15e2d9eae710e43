"""The description of the API: each answer has its form, and each address of the API is in it."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from referee.app.records.explain import view_as_seat
from referee.check.findings import CheckReport, Finding, StepVerdict
from referee.observers.heads import PublishedHead
from referee.pages import report
from referee.web.openapi import OPERATIONS, openapi
from referee.web.routes import make_app

from .sites import NOW, Browser, TestSite
from .submissions.receptions import archive
from .test_who_may import BODIES

SERVICE = ("/submissions", "/matches")
"""Addresses of the submissions service."""
DESCRIPTION: dict[str, Any] = msgspec.json.decode(openapi())
GOLDEN = Path(__file__).parents[1] / "golden" / "illegal-move.jsonl"
TYPED = [(op.method, op.path) for op in OPERATIONS if op.answer is not str]
FINDING = Finding(number=1, key="start", title="It starts", verdict=StepVerdict.OK, seconds=0.5)
REPORT = CheckReport(player="ada", passes=True, ok=1, failed=0, skipped=0, steps=[FINDING])


def lay_out(contest: TestSite) -> None:
    """Make a report of a check, a match of ada's, and files of a tournament."""
    logs = contest.folder / "logs"
    record = GOLDEN.read_bytes()
    (logs / "cup" / "cup-1.jsonl").write_bytes(record)
    head = PublishedHead(at=NOW, record="cup-1", line=0, head="5eed" * 16)
    (logs / "cup.heads").write_bytes(msgspec.json.encode(head) + b"\n")
    vars(contest.matches)["explain_match"] = lambda *_asked: view_as_seat(GOLDEN, 0).explain_seat()
    vars(contest.matches)["record"] = lambda *_asked: record
    entry = contest.store.root / ".versions" / "ada" / "0001" / "version.json"
    entry.write_bytes(entry.read_bytes().replace(b'"waiting"', b'"passed"'))
    (entry.parent / "report.json").write_bytes(msgspec.json.encode(REPORT))


def answer(contest: TestSite, method: str, path: str) -> bytes:
    """Return the answer of an address to ada, who has handed in a program; for events, the first one."""
    bearer = f"Bearer {contest.tokens['ann' if path.startswith('/api/organiser') else 'ada']}"
    browser: Browser = contest.visitor()
    put = browser.ask("PUT", "/submissions", archive(), authorization=f"Bearer {contest.tokens['ada']}")
    lay_out(contest)
    if (method, path) == ("put", "/submissions"):
        return put.body
    path = path.replace("{number}", "1").replace("{tournament}", "cup").replace("{match}", "cup-1")
    body = msgspec.json.encode(BODIES[path]) if method == "post" else b""
    found = browser.ask(method.upper(), path, body, authorization=bearer, content_type="application/json")
    assert found.status in (200, 201)
    return re.sub(rb"^(?:.*\r\n)?data: (.*)\n\n(?:0\r\n)?$", rb"\1", found.body)


@pytest.mark.parametrize(("method", "path"), TYPED)
def test_answers_have_the_form_that_is_described(contest: TestSite, method: str, path: str) -> None:
    """The first item of each list has the form; without its first key it would not."""
    content = DESCRIPTION["paths"][path][method]["responses"]["2XX"]["content"]
    schema = {**next(iter(content.values()))["schema"], "components": DESCRIPTION["components"]}
    validator = Draft202012Validator(schema)
    told = msgspec.json.decode(answer(contest, method, path).partition(b"\n")[0])
    assert list(validator.iter_errors(told)) == []
    del told[next(iter(told))]
    assert list(validator.iter_errors(told))


def test_every_address_of_the_api_is_described(contest: TestSite) -> None:
    """There is no other address in it."""
    rules = {rule.rule for rule in make_app(contest.content, contest.members).url_map.iter_rules()}
    own = {rule.replace("<name>", "{tournament}") for rule in rules if rule.startswith("/api/")} - {"/api/openapi.json"}
    assert own == {op.path for op in OPERATIONS if op.path.startswith("/api/")}
    assert msgspec.json.decode(contest.visitor().ask("GET", "/api/openapi.json").body) == DESCRIPTION


def schemas_in(part: Any) -> Iterator[Any]:
    """Yield every schema of a part of the description."""
    for key, value in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        if key == "schema":
            yield value
        yield from schemas_in(value)


def test_every_answer_has_a_form() -> None:
    """Each schema is valid, has a description, and refers only to existing ones; refusals have a form, too."""
    found = list(schemas_in(DESCRIPTION["paths"]))
    assert all(found)
    for schema in (*found, *DESCRIPTION["components"]["schemas"].values()):
        assert schema.keys() & {"type", "$ref", "anyOf", "enum"}, schema
        Draft202012Validator.check_schema(schema)
    refused = DESCRIPTION["components"]["schemas"]["ApiRefusal"]
    assert list(Draft202012Validator(refused).iter_errors({"error": "no", "remedy": "ask"})) == []
    referred = set(re.findall(rb'"#/components/schemas/([^"]*)"', openapi()))
    assert {name.decode() for name in referred} == set(DESCRIPTION["components"]["schemas"])
    for operations in DESCRIPTION["paths"].values():
        assert all(operation["responses"].keys() == {"2XX", "default"} for operation in operations.values())


def test_every_field_is_described() -> None:
    """The docstrings below the fields of the site's own types describe them."""
    schemas = DESCRIPTION["components"]["schemas"]
    assert b"$defs" not in openapi()
    assert schemas["LiveTable"]["properties"]["head"]["description"] == "Hash of that line."


PAGES = {
    "/": "/api/contest",
    "/index.html": "/api/contest",
    "/standings": "/api/contest",
    "/live": "/api/live",
    "/search": "/api/search",
    "/sign-in": None,
    "/sign-up": "/api/sign-up",
    "/tournaments/<name>/report.html": "/api/tournaments/{tournament}",
    "/tournaments/<name>/entrants/<entrant>.html": "/api/tournaments/{tournament}",
    "/tournaments/<name>/replays/<match>.html": "/tournaments/{tournament}/{match}.jsonl",
    "/author": "/submissions",
    "/author/versions/<number>": "/submissions/{number}",
    "/author/matches": "/matches",
    "/author/matches/<path:name>": "/matches/{match}",
    "/author/printed/<path:name>": "/matches/{match}/printed",
    "/author/practice": "/api/practice",
    "/author/practice/<number>/replay": "/matches/{match}/record",
    "/author/practice/<number>/seat": None,
    "/author/queue": "/api/queue",
    "/organiser": "/api/organiser",
    "/organiser/tournaments/<name>": "/api/organiser",
    "/organiser/authors": "/api/organiser/authors",
    "/organiser/queue": "/api/queue",
    "/organiser/hosts": "/api/organiser/hosts",
    "/organiser/log": "/api/organiser/log",
}
"""Page -> the API's address with the same content.

None: there is none, because programs neither sign in nor take a person's seat.
"""
NO_PAGES = {
    "/key.pem",
    "/visitor",
    "/author/versions/<number>/archive",
    "/feed.atom",
    "/robots.txt",
    "/favicon.ico",
    "/preview.png",
    "/organiser/contest.tar",
    "/tournaments/<name>/<path:rest>",
}
"""Files, which do not count as pages of the site."""


def test_what_every_page_shows_there_is_for_programs(contest: TestSite) -> None:
    """Each page must be in the table, with an address that is described."""
    rules = make_app(contest.content, contest.members).url_map.iter_rules()
    shown = {rule.rule for rule in rules if "GET" in (rule.methods or ()) and "events" not in rule.rule}
    shown = {rule for rule in shown if not rule.startswith(("/api/", *SERVICE))}
    assert shown - NO_PAGES == {page for page in PAGES if not page.startswith("/tournaments/")}
    assert {path for path in PAGES.values() if path} <= {op.path for op in OPERATIONS}


SECTIONS = {
    "standings": "standings",
    "bracket": "brackets",
    "crosstable": "crosstable",
    "ratings": "ratings",
    "history": "history",
    "progress": "progress",
    "seats": "seats",
    "fouls": "fouls",
    "time": "times",
    "fairness": "fairness",
    "hosts": "hosts",
    "suspended": "out",
    "rulings": "rulings",
    "joined": "joined",
    "changed": "versions",
    "byes": "byes",
    "runs": "left_at",
    "void": "disregarded",
    "matches": "entries",
    "rules": "spec",
}
"""Section of a report -> the API's address with the same content."""


def test_what_every_section_of_a_report_shows_there_is_for_programs() -> None:
    """This holds while the tournament is played, too; each section must be in the table."""
    assert re.findall(r'_Section\("(\w+)"', inspect.getsource(report)) == list(SECTIONS)
    assert set(SECTIONS.values()) <= DESCRIPTION["components"]["schemas"]["TournamentReport"]["properties"].keys()
