"""The description of the API: each answer has the form that it says, and each address of the API is in it."""

import re
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from referee.site.openapi import OPERATIONS, openapi
from referee.site.routes import addresses_of

from ..submissions.receptions import archive
from .sites import Browser, TestSite
from .test_who_may import BODIES

SERVICE = ("/submissions", "/matches")
"""Addresses of the submissions service."""
DESCRIPTION: dict[str, Any] = msgspec.json.decode(openapi())
TYPED = [(op.method, op.path) for op in OPERATIONS if op.answer is not None]


def answer(contest: TestSite, method: str, path: str) -> bytes:
    """Return what an address answers to ada, who has handed in a program; of events, the first one."""
    bearer = f"Bearer {contest.tokens['ann' if path.startswith('/api/organiser') else 'ada']}"
    browser: Browser = contest.visitor()
    put = browser.ask("PUT", "/submissions", archive(), authorization=f"Bearer {contest.tokens['ada']}")
    entry = contest.store.root / ".versions" / "ada" / "0001" / "version.json"
    entry.write_bytes(entry.read_bytes().replace(b'"waiting"', b'"passed"'))
    if (method, path) == ("put", "/submissions"):
        return put.body
    body = msgspec.json.encode(BODIES[path]) if method == "post" else b""
    path = path.replace("{number}", "1").replace("{tournament}", "cup")
    found = browser.ask(method.upper(), path, body, authorization=bearer, content_type="application/json")
    assert found.status in (200, 201)
    return re.sub(rb"^(?:.*\r\n)?data: (.*)\n\n(?:0\r\n)?$", rb"\1", found.body)


@pytest.mark.parametrize(("method", "path"), TYPED)
def test_answers_have_the_form_that_is_described(contest: TestSite, method: str, path: str) -> None:
    """And without their first key they would not."""
    content = DESCRIPTION["paths"][path][method]["responses"]["default"]["content"]
    schema = {**next(iter(content.values()))["schema"], "components": DESCRIPTION["components"]}
    validator = Draft202012Validator(schema)
    told = msgspec.json.decode(answer(contest, method, path))
    assert list(validator.iter_errors(told)) == []
    del told[next(iter(told))]
    assert list(validator.iter_errors(told))


def test_every_address_of_the_api_is_described(contest: TestSite) -> None:
    """And no address that is not there."""
    rules = {rule.rule for rule in addresses_of(contest.content, contest.members).url_map.iter_rules()}
    own = {rule.replace("<name>", "{tournament}") for rule in rules if rule.startswith("/api/")} - {"/api/openapi.json"}
    assert own == {op.path for op in OPERATIONS if op.path.startswith("/api/")}
    assert msgspec.json.decode(contest.visitor().ask("GET", "/api/openapi.json").body) == DESCRIPTION


def test_every_field_is_described() -> None:
    """Those of the site's own types by what stands beneath them."""
    schemas = DESCRIPTION["components"]["schemas"]
    assert b"$defs" not in openapi()
    assert schemas["LiveTable"]["properties"]["head"]["description"] == "Hash of that line."


PAGES = {
    "/": "/api/contest",
    "/index.html": "/api/contest",
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
"""Page -> what answers a program the same; None: nothing does, as a program does not sign in, it brings its token with
each request, nor take a person's seat."""
NO_PAGES = {"/key.pem", "/organiser/contest.tar", "/tournaments/<name>/<path:rest>"}
"""What is no page of the site's own: files."""


def test_what_every_page_shows_there_is_for_programs(contest: TestSite) -> None:
    """A page that is not in the table is a fault, and so is one whose address for programs is not described."""
    rules = addresses_of(contest.content, contest.members).url_map.iter_rules()
    shown = {rule.rule for rule in rules if "GET" in (rule.methods or ()) and "events" not in rule.rule}
    shown = {rule for rule in shown if not rule.startswith(("/api/", *SERVICE))}
    assert shown - NO_PAGES == {page for page in PAGES if not page.startswith("/tournaments/")}
    assert {path for path in PAGES.values() if path} <= {op.path for op in OPERATIONS}
