"""The published heads of running records, line by line, and how such a file is read."""

from pathlib import Path
from random import Random

import msgspec
import pytest

from referee.errors import BadRequest
from referee.observers import Observer, Observers
from referee.observers.heads import HeadLog, PublishedHead, by_record, read_heads
from referee.record.reader import read_chain
from referee.record.tournament_record import read_tournament, refold
from referee.tournament import events as e

from ..tournament.playing import AT, closed, spec_of, tournament_of
from .in_memory import OpenMatch
from .tournaments.in_memory import InMemoryTournament


def published(path: Path) -> list[tuple[str, int, str]]:
    """Return the published record, line and head of each."""
    return [(head.record, head.line, head.head) for head in read_heads(path)]


def test_every_event_of_a_match_is_published(open_match: OpenMatch, tmp_path: Path) -> None:
    """Each head is that of its line; the header, the result and the seal are not published."""
    path = tmp_path / "heads.log"
    with Observers(HeadLog(path)) as observers:
        running = open_match(observers=observers)
        before = len(published(path))
        running.ready()
        assert len(published(path)) > before, "at once"
        running.answer(0)
        running.answer(1)
        assert running.end().reason
    lines = read_chain(running.path).lines
    steps = [("m1", number, line.hash) for number, line in enumerate(lines) if line.fields["kind"] == "step"]
    assert published(path) == steps


def test_a_tournament_is_published_once(tmp_path: Path) -> None:
    """Its events are published when they happen; a resumed tournament does not publish them again."""
    path = tmp_path / "heads.log"
    with HeadLog(path) as heads:
        tournament = InMemoryTournament(tmp_path, spec_of(4), observers=(heads,))
        tournament.observers.notify(Observer.on_tournament_founded, tournament.tournament.spec, "00", "0" * 64)
        tournament.recorder.take(e.Begun(at=AT))
        fixture = next(tournament.tournament.fixtures())
        tournament.recorder.open(fixture)
        tournament.recorder.close(closed(tournament.tournament, fixture.match, Random(1)).entry)
        tournament.writer.close()
        record = read_tournament(tournament.path)
        for step in refold(record, tournament_of(spec_of(4)).handle):
            tournament.observers.notify(Observer.on_tournament_advanced, step)
    steps = [("cup", number, line.hash) for number, line in enumerate(record.chain.lines) if number]
    assert published(path) == steps


LINE = msgspec.json.encode(PublishedHead(at=AT, record="cup", line=1, head="0" * 64))


def test_what_a_dead_referee_left_is_cut_off(tmp_path: Path) -> None:
    """A line that is not whole is not read, and nothing is appended to it."""
    path = tmp_path / "heads.log"
    for torn in (b"", LINE[:1], LINE):
        path.write_bytes(LINE + b"\n" + torn)
        assert published(path) == [("cup", 1, "0" * 64)]
        with HeadLog(path):
            pass
        assert path.read_bytes() == LINE + b"\n"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        LINE.replace(b'"line":1', b'"line":-1'),
        LINE.replace(b"0" * 64, b"0" * 63),
        LINE.replace(b"0" * 64, b"A" * 64),
    ],
    ids=["nothing", "no JSON", "no object", "no UTF-8", "too deep", "no line", "no hash", "a hash in another form"],
)
def test_what_is_no_published_head_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "heads.log"
    path.write_bytes(LINE + b"\n" + line + b"\n")
    with pytest.raises(BadRequest, match=r"heads\.log, line 2: "):
        by_record([path])


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    """The same holds for a folder."""
    with pytest.raises(BadRequest, match="heads"):
        by_record([tmp_path / "heads.log"])
    with pytest.raises(BadRequest, match="this is no file"):
        by_record([tmp_path])
