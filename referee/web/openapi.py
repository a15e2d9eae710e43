"""The OpenAPI description of the addresses for programs, made from the types of the answers."""

# The description is made from the structs that the site encodes, so it always agrees with them. The tests compare every
# answer with its description. They also compare every page with the addresses for programs: each fact on a page must be
# available to programs.

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Struct

from .. import __version__
from ..games.schema import schema_of
from ..observers.heads import PublishedHead
from ..pages.tournament_json import TournamentReport
from ..record.explain import Explanation
from . import organisers as organising
from .author_service import CheckedVersion, OwnMatches, Versions
from .authors import PRACTICE_API, QUEUE_API, PracticeRequest, PracticeState, Queue
from .contest_json import ContestCard
from .http import EVENTS, JSON
from .http import LINES as _LINES
from .http import PLAIN_TEXT as _TEXT
from .live import LiveState
from .published import Found
from .signing_up import NewAuthor, SignUpRequest
from .submissions.store import HandedInVersion

PATH = "/api/openapi.json"
_SCHEMAS = "#/components/schemas/"
_AUTHOR, _ORGANISER, _REFUSED = "author", "organiser", "refused"
_PEM = "application/x-pem-file"


class RecordLine(Struct, frozen=True, kw_only=True):
    """A line of a record. Further fields depend on its kind; see the manual's page on the lines of records."""

    n: int
    """Number of the line, from 0."""
    prev: str
    """Hash of the previous line."""
    kind: Literal["header", "step", "result", "seal"]


class ApiRefusal(Struct, frozen=True, kw_only=True):
    """The answer to a refused request."""

    error: str
    remedy: str
    """Advice to the client."""


class _Operation(NamedTuple):
    """One method of one address."""

    method: str
    path: str
    summary: str
    answer: Any
    """Type of the answer, or of each of its lines."""
    media_type: str = JSON
    role: str | None = None
    """Role whose token the address accepts; None: no token is needed."""
    query: Mapping[str, str] = {}
    """Field of the query -> its meaning."""
    asks: Any = None
    """Type of the JSON body; None if the request has no body, or a body that is not JSON."""


_ORGANISERS = tuple(
    _Operation(method, path.replace("<name>", "{tournament}"), summary, answer, role=_ORGANISER, asks=asks)
    for method, path, summary, answer, asks in (
        ("get", organising.API, "The state of the tournaments and of the machine", organising.OrganiserState, None),
        ("post", organising.START_API, "Start a tournament, or resume it", organising.OrganiserState, None),
        (
            "post",
            organising.PAUSE_API,
            "Pause a tournament until it is resumed",
            organising.OrganiserState,
            None,
        ),
        ("post", organising.RULE_API, "Make a ruling", organising.OrganiserState, organising.RulingRequest),
        ("get", organising.AUTHORS_API, "The authors", organising.AuthorList, None),
        ("post", organising.AUTHORS_API, "Add an author", NewAuthor, organising.AuthorRequest),
        ("post", organising.SHUT_OUT_API, "Remove an author", organising.AuthorList, organising.ShutOutRequest),
        ("get", organising.HOSTS_API, "The processes and hosts that play matches", organising.ProcessList, None),
        ("get", organising.LOG_API, "The log of actions on the site", organising.Log, None),
    )
)
OPERATIONS = (
    _Operation("get", "/api/contest", "The state of the contest, as on the first page", ContestCard),
    _Operation("get", "/api/events", "The state after each change, as `data` of an event", ContestCard, EVENTS),
    _Operation("get", "/api/live", "The state of all tables, as spectators may see it", LiveState),
    _Operation("get", "/api/live/events", "First all tables, then the changed ones", LiveState, EVENTS),
    _Operation("get", "/api/search", "Find entrants, and matches that are over", Found, query={"q": "Words of names"}),
    _Operation("post", "/api/sign-up", "Become an author, if the contest allows it", NewAuthor, asks=SignUpRequest),
    _Operation("get", "/api/tournaments/{tournament}", "The report of a tournament", TournamentReport),
    _Operation("get", "/tournaments/{tournament}/heads", "The heads of a tournament's records", PublishedHead, _LINES),
    _Operation(
        "get", "/tournaments/{tournament}/{match}.jsonl", "The record of a match that is over", RecordLine, _LINES
    ),
    _Operation("get", "/key.pem", "The public key that verifies the records", str, _PEM),
    _Operation("get", PRACTICE_API, "The author's practice matches", PracticeState, role=_AUTHOR),
    _Operation("post", PRACTICE_API, "Request a practice match", PracticeState, role=_AUTHOR, asks=PracticeRequest),
    _Operation("get", QUEUE_API, "The queue: an author's own lines, or all", Queue, role="author or organiser"),
    *_ORGANISERS,
    _Operation("get", "/submissions", "The author's versions", Versions, role=_AUTHOR),
    _Operation(
        "put",
        "/submissions",
        "Hand in an archive",
        HandedInVersion,
        role=_AUTHOR,
        query={"name": "Name of the archive's file, for error messages"},
    ),
    _Operation("get", "/submissions/{number}", "A version, with the report of its check", CheckedVersion, role=_AUTHOR),
    _Operation(
        "get",
        "/submissions/{number}/archive",
        "The archive of a version",
        str,
        "application/octet-stream",
        role=_AUTHOR,
    ),
    _Operation("put", "/submissions/{number}/present", "Let this version play", Versions, role=_AUTHOR),
    _Operation("get", "/matches", "The author's matches that are over", OwnMatches, role=_AUTHOR),
    _Operation("get", "/matches/{match}", "An explanation of the author's match", Explanation, role=_AUTHOR),
    _Operation("get", "/matches/{match}/record", "The record of the match", RecordLine, _LINES, role=_AUTHOR),
    _Operation("get", "/matches/{match}/printed", "The last output of the author's program", str, _TEXT, role=_AUTHOR),
)


@cache
def openapi() -> bytes:
    """Return the description as JSON."""
    described = schema_of(
        {f"{op.method} {op.path}": op.answer for op in OPERATIONS}
        | {f"asks {op.path}": op.asks for op in OPERATIONS if op.asks is not None}
        | {_REFUSED: ApiRefusal}
    )
    paths: dict[str, dict[str, Any]] = {}
    for op in OPERATIONS:
        paths.setdefault(op.path, {})[op.method] = _describe(op, described)
    description = {
        "openapi": "3.1.0",
        "info": {"title": "A contest of referee", "version": __version__},
        "servers": [{"url": ".."}],  # relative to this description: the site may be below any path
        "paths": paths,
        "components": {
            "schemas": described["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return msgspec.json.encode(description).replace(b'"#/$defs/', f'"{_SCHEMAS}'.encode())


def _describe(op: _Operation, schemas: Mapping[str, Any]) -> dict[str, Any]:
    names = [part[1:].partition("}")[0] for part in op.path.split("/") if part.startswith("{")]
    text = {"type": "string"}
    return {
        "summary": op.summary,
        "parameters": [
            *({"name": name, "in": "path", "required": True, "schema": text} for name in names),
            *(
                {"name": name, "in": "query", "description": meaning, "schema": text}
                for name, meaning in op.query.items()
            ),
        ],
        "responses": {
            "2XX": {
                "description": op.summary,
                "content": {op.media_type: {"schema": schemas[f"{op.method} {op.path}"]}},
            },
            "default": {"description": "Refused", "content": {JSON: {"schema": schemas[_REFUSED]}}},
        },
        **({"requestBody": {"content": {JSON: {"schema": schemas[f"asks {op.path}"]}}}} if op.asks else {}),
        **({"security": [{"token": []}], "description": f"For an {op.role}"} if op.role else {}),
    }
