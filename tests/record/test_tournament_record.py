"""The record of a tournament: reading gives back what was written, and refuses anything else."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from referee.record.key import Sealer
from referee.record.reader import RecordError
from referee.record.tournament_record import (
    TournamentWriter,
    find_record,
    find_start,
    is_tournament,
    read_start,
    read_tournament,
    record_path,
    refold,
)
from referee.tournament import events as e
from referee.tournament.history import new_tournament
from referee.tournament.spec import Participant

from ..tournament.playing import AT, FORMATS
from .forging import Line, changed
from .records import SEALER, record_of
from .tournament_forging import chain, course_of, event_lines
from .tournaments import Organiser, cup, play_cup


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record of a tournament that was stopped once, with two rulings."""
    folder = tmp_path_factory.mktemp("played") / "cup"
    play_cup(folder, 1)
    return record_path(folder, "cup")


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that holds one damaged record after the other."""
    return tmp_path_factory.mktemp("damaged") / "cup.jsonl"


def events_of(path: Path) -> list[e.AnyTournamentEvent]:
    """Return the events of a record."""
    return [step.event for step in read_tournament(path).transitions]


def test_what_is_written_is_read(played: Path) -> None:
    """The reader gets every event with the hash of its line, the spec, and the context of each match."""
    record = read_tournament(played)
    assert (record.header.spec, record.header.key) == (cup(), SEALER.public)
    assert (record.is_sealed, record.is_finished) == (True, True)
    names = {type(step.event) for step in record.transitions}
    assert names == {
        e.Begun,
        e.Stopped,
        e.TournamentResumed,
        e.RoundPaired,
        e.MatchOpened,
        e.MatchClosed,
        e.Ruled,
        e.Finished,
    }
    openings = event_lines(course_of(played), "match-opened")
    assert list(record.contexts) == [line["event"]["fixture"]["match"] for line in openings]
    hashes = {line.hash for line in record.chain.lines}
    assert {context.head for context in record.contexts.values()} <= hashes
    assert {context.tournament for context in record.contexts.values()} == {"cup"}


def test_it_folds_to_what_it_says(played: Path) -> None:
    """Each transition gives the commands of its line."""
    record = read_tournament(played)
    header = record.header
    tournament = new_tournament(header.spec, FORMATS[header.spec.format], header.salt)
    steps = list(refold(record, tournament.handle))
    assert [step.event for step in steps] == events_of(played)
    assert [step.hash for step in steps] == [record.chain.lines[step.n].hash for step in record.transitions]
    assert tournament.is_over


def test_a_record_is_gone_on_with_after_a_seal(tmp_path: Path) -> None:
    """Every seal covers all lines before it, and only the last line says whether the referee stopped in order."""
    states = []
    for number in range(3):
        with Organiser(tmp_path, cup(), Random(number)) as organiser:
            states.append(read_tournament(organiser.writer.path).is_sealed)
            organiser.play(1, at_once=1)
            organiser.recorder.take(e.Stopped(at=AT, why="it was asked to"))
        record = read_tournament(record_path(tmp_path, "cup"))
        assert (record.is_sealed, record.is_finished) == (True, False)
        seals = [line for line in course_of(record.path) if line["kind"] == "seal"]
        assert len(seals) == number + 1
    assert states == [False] * 3


@pytest.mark.parametrize("rest", [b"", b'{"n":', b'{"n":4,"prev":"', b"\xff\x00"])
def test_a_torn_end_is_cut_off(tmp_path: Path, rest: bytes) -> None:
    """Bytes after the last line feed are no whole line; the record continues before them."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        organiser.play(1, at_once=1)
    path = record_path(tmp_path, "cup")
    whole = b"".join(path.read_bytes().splitlines(keepends=True)[:-1])
    path.write_bytes(whole + rest)
    torn = read_tournament(path)
    assert (torn.is_sealed, torn.chain.rest, torn.chain.size_bytes) == (False, rest, len(whole))
    with Organiser(tmp_path, cup(), Random(2)) as again:
        again.play(1, at_once=1)
    assert path.read_bytes().startswith(whole)
    assert len(read_tournament(path).contexts) == 2


def test_nobody_else_writes_it_meanwhile(tmp_path: Path) -> None:
    """This holds while its referee writes, or if it has grown since it was read; none is overwritten."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        record = read_tournament(organiser.writer.path)
        with pytest.raises(BlockingIOError, match="another referee writes this record"):
            TournamentWriter(record.path, SEALER, record.chain.end)
    with pytest.raises(BlockingIOError, match="another referee writes this record"):
        TournamentWriter(record.path, SEALER, record.chain.end)
    with pytest.raises(FileExistsError):
        TournamentWriter(record.path, SEALER)


def test_what_it_was_begun_with_is_known_without_a_fold(tmp_path: Path) -> None:
    """Late entrants are among them with their programs, and changed programs have the new digest."""
    late = Participant(name="late", player="house:dag")
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        organiser.recorder.take(e.EntrantJoined(at=AT, participant=late, digest="a" * 64))
        organiser.recorder.take(e.ProgramChanged(at=AT, entrant=0, digest="b" * 64))
    begun = read_start(tmp_path)
    record = read_tournament(record_path(tmp_path, "cup"))
    assert begun == find_start(record.header, record.transitions)
    assert begun is not None
    assert begun.spec.entrants == (*cup().entrants, late)
    assert begun.programs == {"late": "a" * 64, "e0": "b" * 64}
    assert begun.changed == {"e0": AT}


@pytest.mark.forges
def test_it_is_told_from_the_records_of_matches(played: Path, tmp_path: Path) -> None:
    """The first line shows it; a folder without one, and a path that is not a file, have none."""
    assert find_record(played.parent) == played
    assert [path for path in played.parent.glob("*.jsonl") if is_tournament(path)] == [played]
    (tmp_path / "m.jsonl").write_bytes(record_of("clean"))
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "nowhere.jsonl").symlink_to("nowhere")
    assert find_record(tmp_path) is None
    assert read_start(tmp_path) is None


@pytest.mark.forges
def test_a_program_of_an_entrant_that_there_is_not_is_no_end_of_it(played: Path, damaged: Path) -> None:
    """The settings of a tournament are read before its events are applied, which then finds the wrong line."""
    lines = course_of(played)
    lines[1] = {**lines[1], "event": {"event": "program-changed", "at": AT, "entrant": 99, "digest": "a" * 64}}
    damaged.write_bytes(chain(lines, SEALER))
    record = read_tournament(damaged)
    assert find_start(record.header, record.transitions).changed == {}
    with pytest.raises(RecordError, match="line 1: expected an event that can happen then"):
        list(refold(record, new_tournament(record.header.spec, FORMATS["swiss"], record.header.salt).handle))


@pytest.mark.forges
@pytest.mark.parametrize(("old", "new"), [("1", "true"), ("1", "1.0")])
def test_commands_are_compared_in_their_form(played: Path, damaged: Path, old: str, new: str) -> None:
    """Python treats true and 1 and 1.0 as equal; a record does not."""
    lines = course_of(played)
    step = next(line for line in lines if line.get("commands") and "round" in line["commands"][0])
    step["commands"][0]["round"] = {"true": True, "1.0": 1.0}[new]
    damaged.write_bytes(chain(lines, SEALER))
    record = read_tournament(damaged)
    with pytest.raises(RecordError, match=f'"round":{old}.*"round":{new}'):
        list(refold(record, new_tournament(record.header.spec, FORMATS["swiss"], record.header.salt).handle))


# # --- refused records


def _event(lines: list[Line], key: str, value: Any, name: str = "match-closed") -> list[Line]:
    line = event_lines(lines, name)[0]
    return changed(lines, lines.index(line), ["event", key], value)


def _entry(lines: list[Line], key: str, value: Any) -> list[Line]:
    line = event_lines(lines, "match-closed")[0]
    return changed(lines, lines.index(line), ["event", "entry", key], value)


def _turned(lines: list[Line], number: int, *keys: str) -> list[Line]:
    holder: Any = lines[number]
    for key in keys:
        holder = holder[key]
    return changed(lines, number, keys, dict(reversed(holder.items())))


def _programs(lines: list[Line], *names: str) -> list[Line]:
    return changed(lines, 0, ["programs"], dict.fromkeys(names, "a" * 64))


FORGERIES: dict[str, tuple[Callable[[list[Line]], list[Line]], str]] = {
    "no header": (lambda lines: lines[1:], "line 0: expected the header of a tournament"),
    "nothing": (lambda _: [], "line 0: expected the header of a tournament; found none"),
    "two headers": (lambda lines: [lines[0], *lines], "line 1: expected an event with its commands"),
    "a line of a match": (lambda lines: [lines[0], {"kind": "step"}], "line 1: expected a line of a tournament's"),
    "a kind that is none": (lambda lines: [lines[0], {"kind": []}], r"line 1: .* found a line of kind \[\]"),
    "more keys": (lambda lines: [lines[0], {**lines[1], "x": 1}], "line 1: .* found .*unknown field `x`"),
    "no event": (lambda lines: _event(lines, "event", "dice"), "a line of a tournament's record; found .*dice"),
    "no commands": (lambda lines: changed(lines, 1, ["commands"], {}), "line 1: .* Expected `array`"),
    "another format": (lambda lines: changed(lines, 0, ["format"], 2), "line 0: "),
    "a short key": (lambda lines: changed(lines, 0, ["key"], "ab"), "line 0: "),
    "a salt that is none": (lambda lines: changed(lines, 0, ["salt"], "xy"), "line 0: "),
    "a seal with more": (lambda lines: [*lines[:-1], {**lines[-1], "x": 1}], "a line of a tournament's record"),
    "another's seal": (lambda lines: changed(lines, 0, ["key"], "ab" * 32), "expected the seal of key abab"),
    "a seat too many": (lambda lines: _entry(lines, "scores", [1, 2, 3]), "found missing seats, or other ones"),
    "no ranking": (lambda lines: _entry(lines, "ranking", []), "found missing seats, or other ones"),
    "a seat twice": (lambda lines: _entry(lines, "ranking", [[0], [0, 1]]), "found missing seats, or other ones"),
    "an empty place": (lambda lines: _entry(lines, "ranking", [[0, 1], []]), "found missing seats, or other ones"),
    "a spec in another order": (lambda lines: _turned(lines, 0, "spec"), "keys in another order"),
    "an event in another order": (lambda lines: _turned(lines, 2, "event"), "keys in another order"),
    "a number in another form": (lambda lines: _entry(lines, "used_ms", [1, 2.5]), "a number in another form"),
    "programs in another order": (lambda lines: _programs(lines, "e1", "e0"), "programs of entrants, in their order"),
    "a program of nobody": (lambda lines: _programs(lines, "e0", "x"), "programs of entrants, in their order"),
    "an entrant before the first": (
        lambda lines: changed(
            lines, 1, ["event"], {"event": "program-changed", "at": AT, "entrant": -1, "digest": "a" * 64}
        ),
        "Expected `int` >= 0",
    ),
    "a foul of nobody": (
        lambda lines: _entry(lines, "fouls", [{"seat": -1, "cause": "crashed", "turn": 0}]),
        "found missing seats, or other ones",
    ),
}


@pytest.mark.forges
@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_no_record_is_refused(played: Path, damaged: Path, name: str) -> None:
    """These are chained and sealed with the right key; only their form is wrong."""
    forge, complaint = FORGERIES[name]
    damaged.write_bytes(chain(forge(course_of(played)), SEALER))
    with pytest.raises(RecordError, match=complaint):
        read_tournament(damaged)


@pytest.mark.forges
def test_no_seal_among_them_may_be_forged(played: Path, damaged: Path) -> None:
    """All seals are verified, not only the last one."""
    lines = course_of(played)
    first = next(number for number, line in enumerate(lines) if line["kind"] == "seal")
    assert first < len(lines) - 1
    forged = chain(lines[: first + 1], Sealer.new())
    damaged.write_bytes(forged)
    with pytest.raises(RecordError, match=f"line {first}: expected the seal of key {SEALER.public}"):
        read_tournament(damaged)


def test_what_can_not_be_read_is_named(tmp_path: Path) -> None:
    """A folder and a missing file are no records."""
    (tmp_path / "folder").mkdir()
    for name, complaint in (("folder", "expected a file"), ("nowhere", "expected a readable file")):
        with pytest.raises(RecordError, match=complaint):
            read_tournament(tmp_path / name)


places = st.floats(0, 1, exclude_max=True)


@pytest.mark.forges
@settings(max_examples=200)
@given(place=places, length=st.integers(0, 300), new=st.binary(max_size=40))
def test_damaged_bytes_are_refused(played: Path, damaged: Path, place: float, length: int, new: bytes) -> None:
    """Changed, missing or additional bytes lead to an error, or only the end is missing."""
    data = played.read_bytes()
    begin = int(place * len(data))
    _check_damage(played, damaged, data[:begin] + new + data[begin + length :])


@pytest.mark.forges
@settings(max_examples=200)
@given(place=places, mask=st.integers(1, 255))
def test_a_flipped_byte_is_refused(played: Path, damaged: Path, place: float, mask: int) -> None:
    """It is refused in any place, even in the last line feed."""
    data = bytearray(played.read_bytes())
    data[int(place * len(data))] ^= mask
    _check_damage(played, damaged, bytes(data))


@pytest.mark.forges
@settings(max_examples=100)
@given(one=places, other=places, way=st.sampled_from(["left out", "doubled", "swapped", "cut"]))
def test_damaged_lines_are_refused(played: Path, damaged: Path, one: float, other: float, way: str) -> None:
    """Lines that are missing, doubled or misplaced; after a cut, only the end is missing."""
    lines = played.read_bytes().splitlines(keepends=True)
    here, there = int(one * len(lines)), int(other * len(lines))
    match way:
        case "left out":
            del lines[here]
        case "doubled":
            lines.insert(there, lines[here])
        case "swapped":
            lines[here], lines[there] = lines[there], lines[here]
        case "cut":
            del lines[here:]
    _check_damage(played, damaged, b"".join(lines))


def _check_damage(played: Path, damaged: Path, data: bytes) -> None:
    """Check that a damaged record is refused, or agrees with the whole one up to its end."""
    assume(data != played.read_bytes())
    damaged.write_bytes(data)
    try:
        found = read_tournament(damaged)
    except RecordError:
        return
    whole = read_tournament(played)
    count = len(found.chain.lines)
    is_followed = bool(found.chain.rest) and not found.is_sealed  # as if a later run had crashed in its first line
    assert count < len(whole.chain.lines) or is_followed
    assert [line.hash for line in found.chain.lines] == [line.hash for line in whole.chain.lines[:count]]
    assert found.transitions == whole.transitions[: len(found.transitions)]
    assert not found.is_finished
