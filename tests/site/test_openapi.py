"""The description of the API: each answer has the form that it says, and each address of the API is in it."""

import re
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no types

from referee.site.openapi import OPERATIONS, openapi
from referee.site.routes import addresses_of
from referee.site.signing_up import SignUpRequest

from ..submissions.receptions import archive
from .sites import Browser, TestSite

DESCRIPTION: dict[str, Any] = msgspec.json.decode(openapi())
TYPED = [(op.method, op.path) for op in OPERATIONS if op.answer is not None]


def answer(contest: TestSite, method: str, path: str) -> bytes:
    """Return what an address answers to ada, who has handed in a program; of events, the first one."""
    bearer = f"Bearer {contest.tokens['ada']}"
    browser: Browser = contest.visitor()
    put = browser.ask("PUT", "/submissions", archive(), authorization=bearer)
    entry = contest.store.root / ".versions" / "ada" / "0001" / "version.json"
    entry.write_bytes(entry.read_bytes().replace(b'"waiting"', b'"passed"'))
    if (method, path) == ("put", "/submissions"):
        return put.body
    body = msgspec.json.encode(SignUpRequest(name="eve", invitation=contest.sign_up.CODE)) if method == "post" else b""
    path = path.replace("{number}", "1")
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
    own = {rule for rule in rules if rule.startswith("/api/")} - {"/api/openapi.json"}
    assert own == {op.path for op in OPERATIONS if op.path.startswith("/api/")}
    assert msgspec.json.decode(contest.visitor().ask("GET", "/api/openapi.json").body) == DESCRIPTION


def test_every_field_is_described() -> None:
    """Those of the site's own types by what stands beneath them."""
    schemas = DESCRIPTION["components"]["schemas"]
    assert b"$defs" not in openapi()
    assert schemas["LiveTable"]["properties"]["head"]["description"] == "Hash of that line."
