"""Files that a contest and the auditors of its matches keep between runs, with their readers."""

from contextlib import closing, suppress
from pathlib import Path
from random import Random

import msgspec
from twisted.internet.task import Clock

from referee.app.records.audit import audit_paths
from referee.app.records.audit_reports import Demands
from referee.cli.errors import FAILED, FINE
from referee.observers.heads import HeadLog, PublishedHead, by_record, read_heads
from referee.plugins import find_game, installed
from referee.record.reader import RecordError, read_record
from referee.web.contest.contest_file import CONTEST, read_contest, write_example
from referee.web.contest.intake import ACTION_LOG, LOGS, ActionLog
from referee.web.contest.practice import Practice, PracticeRequests, RefereeProgram
from referee.web.contest.publishing import Published
from referee.web.contest.queue import waiting_practice
from referee.web.submissions.challenges import PRACTICE, Challenge, Challenges
from referee.web.submissions.matches import AuthorsMatches
from referee.web.submissions.store import Store

from ..record.records import SEALER
from ..record.tournaments import play_cup
from . import records
from .files import json_of, texts_of
from .handed_in import AT, write_store
from .running import Failed, Kind, Reader, command

_HEADS, _SINCE, _AUDITED, _AUTHORED = "published.heads", "since.json", "audited", "cup-00001.jsonl"
_DEMANDS = Demands(keys=(SEALER.public,))


# --- what auditors keep


def _write_records(folder: Path) -> None:
    """Write two records, their published heads, and the results of an audit."""
    (folder / _AUDITED).mkdir()
    for name in ("clean", "dealt"):
        path = folder / _AUDITED / f"{name}.jsonl"
        path.write_bytes(records.whole(name))
        record = read_record(path)
        with (folder / _HEADS).open("ab") as file:
            for number, line in enumerate(record.chain.lines):
                head = PublishedHead(at=AT, record=record.header.setup.match, line=number, head=line.hash)
                file.write(msgspec.json.encode(head) + b"\n")
    (folder / records.HONEST).write_bytes((folder / _HEADS).read_bytes())
    _audited_since(folder)


def _append_head(folder: Path) -> None:
    """Append further heads."""
    with HeadLog(folder / _HEADS):
        pass
    read_heads(folder / _HEADS)


def _check_heads(folder: Path) -> None:
    """Audit records with changed heads.

    Raises:
        Failed: the audit succeeded, although no line has one of the published heads.
    """
    known, asked = (
        {(head.record, head.line, head.head) for head in read_heads(folder / name)} for name in (records.HONEST, _HEADS)
    )
    published = by_record([folder / _HEADS])
    demands = Demands(keys=(SEALER.public,), published=published)
    if audit_paths([folder / _AUDITED], demands, 1, lambda *_: None).holds and not asked <= known:
        raise Failed("a head that no line has was not missed")


def _audited_since(folder: Path) -> bool:
    audited = audit_paths([folder / _AUDITED], _DEMANDS, 1, lambda *_: None, folder / _SINCE)
    return audited.holds


def _change_audited(folder: Path, random: Random) -> str:
    """Change stored results of an audit, or a record that held in it."""
    if random.random() < 0.6:
        return json_of(_SINCE)(folder, random)
    path = random.choice(sorted((folder / _AUDITED).iterdir()))
    return " ".join((path.name, *records.change_record(path, random)))


def _check_since(folder: Path) -> None:
    """Audit records again.

    Raises:
        Failed: what an earlier audit kept lets a record hold that does not.
    """
    if _audited_since(folder) and not audit_paths([folder / _AUDITED], _DEMANDS, 1, lambda *_: None).holds:
        raise Failed("a change was not found")


# --- what a contest keeps


def _write_contest(folder: Path) -> None:
    write_example(folder)


def _contest(folder: Path) -> None:
    for each in read_contest(folder, installed()).daily:
        each.upcoming(each.start)


def _write_actions(folder: Path) -> None:
    log = ActionLog(folder)
    for what in ("pauses", "awards", "resumes"):
        log.add("ada", what, "cup", "it hung")


def _actions(folder: Path) -> None:
    log = ActionLog(folder)
    log.newest()
    log.add("bob", "pauses", "cup")
    if log.newest()[0].by != "bob":
        raise Failed("what was done last is not there")


def _write_challenges(folder: Path) -> None:
    write_example(folder)
    write_store(folder)
    kept = Challenges(folder / LOGS / PRACTICE)
    for author, version in (("ann", 1), ("ann", None), ("bob", 1)):
        asked = Challenge(
            author=author,
            number=0,
            tournament="cup",
            version=version,
            opponent="house:dag",
            asked=AT,
            begun=AT,
        )
        kept.add(asked)


def _challenges(folder: Path) -> None:
    """Read challenges as a contest does, and ask for one more.

    Raises:
        Failed: the files of one challenge would replace those of another.
    """
    contest, program = read_contest(folder, installed()), RefereeProgram(("referee",), ())
    with closing(Store(folder / "store")) as store:
        requests = PracticeRequests(contest, store)
        practice = Practice(Clock(), contest, requests, program, lambda: 0, lambda _: None, lambda *_, **__: None)
        list(waiting_practice(practice))
    kept = Challenges(folder / LOGS / PRACTICE)
    for challenge in kept.waiting():
        if not (kept.folder(challenge) / "challenge.json").is_file():
            raise Failed(f"{challenge.place} is no place of a challenge")
        kept.save(challenge)
    kept.add(Challenge(author="ann", number=0, tournament="cup", version=1, opponent="house:dag", asked=AT))


def _write_published(folder: Path) -> None:
    write_example(folder)
    play_cup(folder / LOGS / "cup", 1, 4)
    command("report", "logs/cup", "--jobs", "1")(folder)


def _published(folder: Path) -> None:
    scheduled, _ = read_contest(folder, installed()).tournaments
    published = Published(folder / LOGS / "cup")
    published.read()
    msgspec.json.encode(published.card(scheduled, "is running", 1, (), None))


def _write_authored(folder: Path) -> None:
    """Write the record of a match of an author's with itself."""
    lines = records.lines_of(records.whole("clean"))
    header, opened = lines[0], lines[0].pop("open")
    seed, *others = opened.items()
    more = [("programs", ["00" * 16, ["in/ann", "in/ann"]]), ("folder", ["11" * 16, "/"])]
    lines[0] = header | {name: {"hidden": ""} for name, _ in more} | {"open": dict([seed, *more, *others])}
    (folder / _AUTHORED).write_bytes(records.rewritten(lines))


def _change_authored(folder: Path, random: Random) -> str:
    return " ".join(records.change_record(folder / _AUTHORED, random))


def _authored(folder: Path) -> int:
    """Show an author's matches, and explain each; return the exit status of a command: whether there is one."""
    matches = AuthorsMatches(folder, Path("/in"), find_game)
    found = matches.list_own("ann")
    for own in found:
        msgspec.json.encode(own)
        with suppress(RecordError):
            matches.explain_match("ann", own.match, own.seat)
        with suppress(RecordError):
            matches.record("ann", own.match, own.seat)
    return FINE if found else FAILED


_AUDITS: dict[str, Reader] = {
    "audit --heads": command("audit", _AUDITED, "--heads", _HEADS, "--public-key", SEALER.public),
    "publish": _append_head,
    "what is told": _check_heads,
}
KINDS: dict[str, Kind] = {
    "heads": Kind(_write_records, json_of(_HEADS), _AUDITS),
    "earlier audit": Kind(
        _write_records,
        _change_audited,
        {"audit --since": command("audit", _AUDITED, "--since", _SINCE, "--json"), "what is told": _check_since},
    ),
    "contest": Kind(_write_contest, texts_of(CONTEST, CONTEST, "cup.toml"), {"host": _contest}),
    "actions": Kind(_write_actions, json_of(ACTION_LOG), {"host": _actions}),
    "challenge": Kind(_write_challenges, json_of(f"{LOGS}/{PRACTICE}/*/*/*.json"), {"host": _challenges}),
    "author's match": Kind(_write_authored, _change_authored, {"host": _authored}),
    "published report": Kind(_write_published, json_of(f"{LOGS}/cup/tournament.json"), {"host": _published}),
}
"""Name -> kind."""
