"""With the key, a tournament's record can be signed again, but every contradiction in it is named."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.errors import RefereeError
from referee.plugins import PluginError, find_game, load
from referee.record.audit import tournament as audit_module
from referee.record.audit.match import audit
from referee.record.audit.tournament import AuditedTournament, MatchProof, audit_tournament
from referee.record.key import Sealer
from referee.record.reader import RecordError
from referee.record.tournament_record import record_path
from referee.tournament.pairing.base import BadFormat, RoundToPair
from referee.tournament.pairing.dutch import pair_round

from ..forging import Line, changed
from ..records import SEALER
from ..tournament_forging import bind_matches, chain, course_of, event_lines, folded, plain
from ..tournaments import Organiser, cup, play_cup

REGISTRY = load()
Forge = Callable[[list[Line]], list[Line]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tournament that was stopped once, with a withdrawal and an award."""
    folder = tmp_path_factory.mktemp("played") / "cup"
    play_cup(folder, 1)
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    """Return a copy of this folder."""
    return Path(shutil.copytree(played, tmp_path / "cup"))


def audited(folder: Path, *keys: str, **more: Any) -> AuditedTournament:
    """Audit a tournament as a whole."""
    path = record_path(folder, "cup")
    pair = partial(map, more.pop("pair", pair_round))
    found = audit_tournament(path, REGISTRY.format, find_game, pair, keys=keys, **more)
    files = [file for file in sorted(folder.glob("**/*.jsonl")) if file != path]
    found.check_files(files, is_whole=True)
    for file in files:
        found.check_match(MatchProof.of(audit(file, find_game, is_strict=False)), find_game)
    return found


def forged(folder: Path, forge: Forge) -> None:
    """Change the events of a tournament, and chain and sign them again."""
    path = record_path(folder, "cup")
    path.write_bytes(chain(forge(course_of(path)), SEALER))


def refused(folder: Path, complaint: str) -> None:
    """Check that a tournament is refused, and with which error."""
    with pytest.raises(RecordError, match=complaint):
        audited(folder, SEALER.public)


def test_what_was_played_holds(folder: Path) -> None:
    """It holds with the published key, and with the key that it names itself."""
    found = audited(folder, SEALER.public)
    assert audited(folder).contexts == found.contexts
    assert (found.taken_on_trust, found.spec) == ((), cup())
    assert len(found.history.tournament.rulings) == 2
    assert found.history.tournament.is_over


def test_a_course_that_is_chained_anew_is_the_same(folder: Path) -> None:
    """The forger's tools change nothing by themselves."""
    before = record_path(folder, "cup").read_bytes()
    forged(folder, folded)
    assert record_path(folder, "cup").read_bytes() == before


# # --- changes of an organiser


def _in(event: str, keys: tuple[str | int, ...], value: Any, number: int = 0) -> Forge:
    def _forge(lines: list[Line]) -> list[Line]:
        line = event_lines(lines, event)[number]
        return changed(lines, lines.index(line), ["event", *keys], value)

    return _forge


def _spec(keys: tuple[str | int, ...], value: Any) -> Forge:
    return lambda lines: changed(lines, 0, ["spec", *keys], value)


def _other_winner(lines: list[Line]) -> list[Line]:
    line = next(line for line in event_lines(lines, "match-closed") if len(line["event"]["entry"]["ranking"]) > 1)
    ranking = line["event"]["entry"]["ranking"]
    return changed(lines, lines.index(line), ["event", "entry", "ranking"], ranking[::-1])


def _other_standings(lines: list[Line]) -> list[Line]:
    line = event_lines(lines, "finished")[0]
    standings = line["commands"][0]["standings"]
    return changed(lines, lines.index(line), ["commands", 0, "standings"], standings[::-1])


def _no_match(lines: list[Line]) -> list[Line]:
    return [line for line in lines if "cup-00001" not in (_match(line), line.get("event", {}).get("match"))]


def _match(line: Line) -> Any:
    event = line.get("event", {})
    return event.get("entry", event).get("fixture", {}).get("match")


def _swapped_tables(lines: list[Line]) -> list[Line]:
    line = event_lines(lines, "round-paired")[1]
    (one, two), (three, four), *rest = line["event"]["tables"]
    tables = [[three, two], [one, four], *rest]
    return changed(lines, lines.index(line), ["event", "tables"], tables)


def _no_ruling(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.get("event", {}).get("event") != "ruled"]


def _folded(lines: list[Line]) -> list[Line]:
    """Return the events with their consequences, as far as they are possible."""
    for count in range(len(lines), 0, -1):
        try:
            return [*folded(lines[:count]), *lines[count:]]
        except RefereeError:
            continue
    return lines


FORGERIES: dict[str, tuple[Forge, str]] = {
    "a bye": (_spec(("scoring", "bye"), 0.0), "commands|the record of .* that line .* of cup.jsonl opened"),
    "a time limit": (_spec(("time", "per_move_ms"), 7.0), "the record of .* that line .* of cup.jsonl opened"),
    "a tie-break": (_spec(("tie_breaks",), ["wins"]), "commands"),
    "a name": (_spec(("entrants", 3, "name"), "cheat"), "commands|the record of .* that line .* of cup.jsonl opened"),
    "a name twice": (_spec(("entrants", 3, "name"), "e0"), "a different name for each entrant"),
    "teams": (_spec(("scoring", "teams"), [[0], [1]]), r"line 0: expected teams \[\], as in quincy"),
    "options": (_spec(("options",), {"x": 1}), "line 0: expected options of quincy"),
    "lots": (lambda lines: changed(lines, 0, ["salt"], "ab" * 16), "wrong way round|tables|commands"),
    "a winner": (_other_winner, "tables|commands"),
    "a winner, folded": (
        lambda lines: _folded(_other_winner(lines)),
        "tables|happen|expected ranking .* as line .* of cup.jsonl",
    ),
    "time used": (_in("match-closed", ("entry", "used_ms", 0), 1.0, -1), "cup-.*expected used_ms"),
    "a head": (_in("match-closed", ("entry", "head"), "a" * 64, -1), 'cup-.*expected head "aaaa'),
    "standings": (_other_standings, "commands .*end-tournament"),
    "a match left out": (_no_match, "commands|an event that can happen"),
    "a ruling left out": (lambda lines: _folded(_no_ruling(lines)), "round|table|opened|happen"),
    "tables": (_swapped_tables, r"expected (the tables according to py4swiss|commands|an event that can happen)"),
    "a round too early": (_in("round-paired", ("round",), 3), "expected an event that can happen then"),
    "a match that is none": (_in("match-opened", ("fixture", "entrants"), [0, 0]), "an event that can happen then"),
    "an end too early": (lambda lines: [*lines[:4], *lines[-2:]], "expected an event that can happen then"),
}


@pytest.mark.forges
@pytest.mark.parametrize("name", FORGERIES)
def test_what_an_organiser_changes_is_named(folder: Path, name: str) -> None:
    """The record is whole, chained and signed, but contradicts itself, the rules or a match's record."""
    forge, complaint = FORGERIES[name]
    forged(folder, forge)
    refused(folder, complaint)


@pytest.mark.forges
def test_a_replayed_match_is_named(folder: Path, tmp_path: Path) -> None:
    """The same line opened it, but its result is not the one in the tournament's record."""
    (*_, line) = event_lines(course_of(record_path(folder, "cup")), "match-closed")
    path = folder / f"{_match(line)}.jsonl"
    context = audit(path, find_game).header.context
    assert context is not None
    path.unlink()
    with Organiser(tmp_path / "again", cup(), Random(9)) as organiser:
        organiser.record_match(context)
    (tmp_path / "again" / path.name).rename(path)
    refused(folder, f"{path.name}: expected .* as in line .* of cup.jsonl")


@pytest.mark.forges
def test_a_match_set_up_otherwise_is_named(tmp_path: Path) -> None:
    """Its own record holds, and its result is the one in the tournament's record."""
    changes: list[dict[str, Any]] = [
        {"names": ("e0", "e1")},
        {"time": replace(cup().time, per_move_ms=7.0)},
        {"lag_margin_ms": 1.0},
        {"default_margin": None},
        {"durability": "turn"},
        {"programs": None},
        {"programs": ["house:dag", "remote"]},
    ]
    for number, change in enumerate(changes):
        folder = tmp_path / str(number)
        with Organiser(folder, cup(), Random(1)) as organiser:
            context = organiser.recorder.open(organiser.due()[0])
            entry = organiser.record_match(context, **change)
            organiser.recorder.close(entry)
        with pytest.raises(RecordError, match=f"line 0: expected {next(iter(change))} .*, as in the spec"):
            audited(folder)


@pytest.mark.forges
def test_two_matches_have_two_deals(tmp_path: Path) -> None:
    """A deal that is used twice is named."""
    with Organiser(tmp_path, cup(), Random(1)) as organiser:
        one, two = (organiser.recorder.open(fixture) for fixture in organiser.due()[:2])
        for context in (one, two):
            organiser.random = Random(5)
            organiser.recorder.close(organiser.record_match(context))
    refused(tmp_path, f"expected a deal that no other match has; found the deal of {one.fixture.match}")


@pytest.mark.forges
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda folder: (folder / "cup-00001.jsonl").unlink(), "expected the record of cup-00001, which was played"),
        (
            lambda folder: shutil.copy(folder / "cup-00001.jsonl", folder / "x.jsonl"),
            "x.jsonl: expected only records of matches that cup.jsonl lists",
        ),
        (
            lambda folder: (folder / "cup-00001.jsonl").rename(folder / "cup-00099.jsonl"),
            "expected the record of cup-00001, which was played",
        ),
        (
            lambda folder: shutil.copy(folder / "cup-00001.jsonl", folder / "cup-00002.jsonl"),
            "cup-00002.jsonl, line 0: expected the record of cup-00002 that line .* of cup.jsonl opened",
        ),
    ],
    ids=["missing", "added", "renamed", "copied"],
)
def test_files_are_those_that_were_opened(folder: Path, change: Callable[[Path], object], complaint: str) -> None:
    """A missing or additional file is named, and so is one under another name."""
    change(folder)
    refused(folder, complaint)


@pytest.mark.forges
def test_a_record_has_the_name_of_its_tournament(folder: Path) -> None:
    """A file with another name could be taken for another record."""
    (folder / "cup.jsonl").rename(folder / "cap.jsonl")
    found = audit_tournament(folder / "cap.jsonl", REGISTRY.format, find_game, partial(map, pair_round))
    found.check_files([], is_whole=False)
    with pytest.raises(RecordError, match="expected the record of a tournament called cap; found that of cup"):
        found.check_files([], is_whole=True)


def test_only_the_key_that_was_published_counts(folder: Path) -> None:
    """It must be the key of the tournament and of each match."""
    with pytest.raises(RecordError, match="line 0: expected key"):
        audited(folder, Sealer.new().public)


@pytest.mark.forges
def test_a_record_without_a_seal_is_taken_only_if_that_is_asked_for(folder: Path) -> None:
    """Its content is verified all the same."""
    path = record_path(folder, "cup")
    lines = path.read_bytes().splitlines(keepends=True)
    for data, found in ((lines[:-1], "crashed or still runs"), ([*lines[:-1], b"{"], "a torn line")):
        path.write_bytes(b"".join(data))
        refused(folder, f"line {len(lines) - 1}: expected a seal; found .*{found}")
        assert audited(folder, is_strict=False).history.tournament.is_over


def test_rounds_of_another_program_are_taken_on_trust(folder: Path) -> None:
    """The rounds keep the rules. Without the program, its pairings can't be computed again, and the audit says so."""

    def _pair(asked: RoundToPair) -> tuple[tuple[tuple[int, ...], ...], str]:
        return pair_round(asked)[0], "another 1.0"

    assert audited(folder, pair=_pair).taken_on_trust == (1, 2, 3)


@pytest.mark.forges
def test_a_round_is_told_before_what_is_wrong_behind_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds are paired together at the end, but the error names the first wrong line."""

    def _turned(asked: RoundToPair) -> tuple[tuple[tuple[int, ...], ...], str]:
        tables, by = pair_round(asked)
        return tables[::-1], by

    path, lines = record_path(folder, "cup"), course_of(record_path(folder, "cup"))
    first, second, _ = (lines.index(line) for line in event_lines(lines, "round-paired"))
    for at_once in (1, 2, 64):
        monkeypatch.setattr(audit_module, "MAX_ROUNDS_TOGETHER", at_once)
        with pytest.raises(RecordError, match=f"line {first}: expected the tables according to"):
            audited(folder, pair=_turned)
    path.write_bytes(chain([line for line in lines if lines.index(line) != second + 1], SEALER))
    with pytest.raises(RecordError, match=f"line {first}: expected the tables according to"):
        audited(folder, pair=_turned)
    with pytest.raises(RecordError, match=r"line \d+: expected an event that can happen"):
        audited(folder)


@pytest.mark.forges
def test_what_is_not_installed_is_no_fault_of_the_record(folder: Path) -> None:
    """The errors about missing formats and games are passed on."""
    forged(folder, _spec(("format",), "dice"))
    with pytest.raises(PluginError, match="there is no pairing format 'dice'"):
        audited(folder)
    forged(folder, lambda lines: _spec(("format_options",), {"x": 1})(_spec(("format",), "swiss")(lines)))
    with pytest.raises(BadFormat, match="options of swiss"):
        audited(folder)


# # --- forgeries that no folder shows


@pytest.mark.forges
def test_all_records_written_anew_show_against_heads_alone(folder: Path) -> None:
    """If all records of the folder are written again, only hashes that somebody kept show it."""
    path = record_path(folder, "cup")
    before = {line.hash for line in audited(folder).record.chain.lines}
    lines = changed(course_of(path), 1, ["event", "at"], "2001-01-01T00:00:00.000+00:00")
    path.write_bytes(chain(bind_matches(folder, lines, SEALER), SEALER))
    after = {line.hash for line in audited(folder, SEALER.public).record.chain.lines}
    assert len(before & after) == 1


@pytest.mark.forges
def test_what_was_taken_back_shows_against_heads_alone(folder: Path) -> None:
    """If the record is cut off after an earlier seal, and later matches are removed, it is the record of that stop."""
    path = record_path(folder, "cup")
    lines = path.read_bytes().splitlines(keepends=True)
    whole = audited(folder)
    first = next(number for number, line in enumerate(course_of(path)) if line["kind"] == "seal")
    path.write_bytes(b"".join(lines[: first + 1]))
    refused(folder, "expected only records of matches that cup.jsonl lists")
    opened = {_match(line) for line in event_lines(course_of(path), "match-opened")}
    for file in set(folder.glob("cup-*.jsonl")):
        if file.stem not in opened:
            file.unlink()
    found = audited(folder, SEALER.public)
    assert not found.record.is_finished
    assert whole.record.chain.head not in {line.hash for line in found.record.chain.lines}


@pytest.mark.forges
def test_a_result_of_its_own_is_told_as_a_ruling(folder: Path) -> None:
    """Such a result is recorded as the organiser's ruling, with a name."""
    path = record_path(folder, "cup")
    lines = course_of(path)
    (ruled, *_) = event_lines(lines, "ruled")
    ruling = {**ruled["event"]["ruling"], "id": "ff", "kind": "disqualify", "entrant": "e0", "match": None}
    end = lines.index(event_lines(lines, "finished")[0])
    lines.insert(end, {**ruled, "event": {**ruled["event"], "ruling": plain(ruling)}})
    path.write_bytes(chain(folded(lines), SEALER))
    assert [each.id for each in audited(folder, SEALER.public).history.tournament.rulings][-1] == "ff"
