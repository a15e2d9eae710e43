"""Audits: records of every kind hold, unfinished records are folded, and other rules give another verdict."""

import json
from pathlib import Path
from typing import Any

import pytest

from referee import chance
from referee.games.base import IllegalMove
from referee.games.q.forms import Move, State
from referee.games.q.game import QGame
from referee.match.fouls import Cause
from referee.match.machine import Match, Phase
from referee.plugins import PluginError
from referee.record.audit.match import audit, open_match, refold
from referee.record.reader import RecordError, read_record
from referee.record.schema import plain_json

from ...match.folding import PASS, SEED, fold, moved, opened, ready, setup_of
from ..forging import (
    FORGERS_KEY,
    REGISTRY,
    Keys,
    audited,
    changed,
    is_accepted,
    lines_of,
    refused,
    sealed,
    unchained,
    unsealed,
)
from ..records import SEALER, STORIES, Story, cut, record_of, tell

CLEAN = lines_of(record_of("clean"))
DEALT = lines_of(record_of("dealt"))
OTHER = chance.seed_from_number(8)


@pytest.mark.parametrize("name", STORIES)
def test_a_record_of_any_match_holds(tmp_path: Path, name: str) -> None:
    """The records have fouls of every cause and void matches, with acknowledgements or without, finished or not."""
    path = tell(name).write(tmp_path / "m.jsonl")
    assert audit(path, REGISTRY.game, is_strict=tell(name).match.result is not None) == read_record(path)


def test_the_records_have_every_cause() -> None:
    """Each cause of a foul is in one of the records, and so is each way to void a match."""
    results = [result for name in STORIES if (result := tell(name).match.result) is not None]
    assert {foul.cause for result in results for foul in result.fouls} == set(Cause)
    assert {result.void for result in results} == {None, "the disk is full"}
    ends = {"q.end.idle-round", "q.end.finished", "q.end.deserted", "default"}
    assert {result.reason for result in results} == {None, *ends}


def test_a_record_is_folded_step_by_step(tmp_path: Path) -> None:
    """After each event, the caller gets the match in its state at that time."""
    story = tell("acknowledged")
    record = read_record(story.write(tmp_path / "m.jsonl"))
    match = open_match(record, REGISTRY.game)
    assert match is not None
    assert match.phase is Phase.NEW
    twin = Match(story.match.game, story.match.setup, story.match.seed)
    seen = 0
    for step, state in refold(record, match):
        assert step.commands == json.loads(plain_json(twin.handle(step.event)))
        assert (state.state, state.phase, state.turn, state.fouls) == (twin.state, twin.phase, twin.turn, twin.fouls)
        seen += 1
    assert seen == len(story.steps)


# --- the beginning

NO_Q = "a setup of q and its committed seed"
HEADERS: tuple[tuple[str, tuple[str, ...], Any, str], ...] = (
    ("an unknown option", ("setup", "options"), {"bonus": 1}, NO_Q),
    ("an option of a wrong type", ("setup", "options"), {"q_bonus": "6"}, NO_Q),
    ("an option of a wrong value", ("setup", "options"), {"q_bonus": -1}, NO_Q),
    ("a huge option", ("setup", "options"), {"q_bonus": 10**30}, "a line of a record"),
    ("a position of no form", ("setup", "position"), [], NO_Q),
    ("a position of a wrong tile", ("setup", "position", "pile"), ["grey-cat"], NO_Q),
    ("a position of fewer seats", ("setup", "names"), ["a", "b", "c", "d"], NO_Q),
    ("a position of more seats", ("setup", "position", "players"), [{"score": 0, "hand": []}] * 4, NO_Q),
    ("another commitment", ("setup", "commitment"), chance.commitment(OTHER), NO_Q),
    ("another seed", ("seed",), OTHER.hex(), f"the seed of the result, {SEED.hex()}"),
)


@pytest.mark.parametrize(("_name", "keys", "value", "expected"), HEADERS, ids=[row[0] for row in HEADERS])
def test_a_setup_that_is_none_of_the_game(
    tmp_path: Path, _name: str, keys: tuple[str, ...], value: Any, expected: str
) -> None:
    """Options, position and seed are checked before the first event: line 0 is named."""
    error = refused(tmp_path / "m", sealed(changed(CLEAN, 0, keys, value)))
    assert (error.line, error.expected) == (0, expected)


def test_a_deal_for_too_many(tmp_path: Path) -> None:
    """Without a position, the game decides how many seats are possible."""
    error = refused(tmp_path / "m", sealed(changed(DEALT, 0, ("setup", "names"), list("abcdefgh"))))
    assert (error.line, error.found) == (0, "q is played by 2 to 4, not by 8")


def test_another_seed_than_the_committed_one(tmp_path: Path) -> None:
    """A seed that was secret until the end, or is in an unfinished record, must fit the commitment."""
    for lines in (
        changed(DEALT, len(DEALT) - 2, ("seed",), OTHER.hex()),
        changed(CLEAN[:6], 0, ("seed",), OTHER.hex()),
    ):
        error = refused(tmp_path / "m", sealed(lines), is_strict=False)
        assert (error.line, error.expected) == (0, NO_Q)


@pytest.mark.parametrize("seed", [SEED.hex()[:-2], SEED.hex()[:-1], SEED.hex() + "00", "", "x" * 64, "\u0661" * 64])
def test_what_is_no_seed(tmp_path: Path, seed: str) -> None:
    """A malformed seed is refused in the header or in the result, fixed or secret, finished or not."""
    last = len(DEALT) - 2
    assert refused(tmp_path / "m", sealed(changed(CLEAN, 0, ("seed",), seed))).line == 0
    assert refused(tmp_path / "m", sealed(changed(CLEAN[:6], 0, ("seed",), seed)), is_strict=False).line == 0
    assert refused(tmp_path / "m", sealed(changed(DEALT, last, ("seed",), seed))).line in (0, last)


def test_a_game_that_is_not_installed(tmp_path: Path) -> None:
    """The lookup's own error is raised, because such a record is neither right nor wrong."""
    (tmp_path / "m").write_bytes(sealed(changed(CLEAN, 0, ("setup", "game"), "no-such")))
    with pytest.raises(PluginError, match="there is no game 'no-such'; there are: "):
        audit(tmp_path / "m", REGISTRY.game)


# --- the end


@pytest.mark.parametrize("name", ["clean", "late move", "acknowledged", "all gone", "void", "fixed deal"])
def test_an_unfinished_record_is_folded(tmp_path: Path, name: str) -> None:
    """With a fixed seed, an unfinished record holds wherever it ends, and a forged command in it is found."""
    lines = lines_of(record_of(name))
    for count in range(1, len(lines) - 1):
        record = audited(tmp_path / "m", sealed(lines[:count]), is_strict=False)
        assert (len(record.transitions), record.result, record.state) == (count - 1, None, "unfinished")
        given = lines[count].get("commands")
        if given is None:
            continue
        forged = changed(lines[: count + 1], count, ("commands",), [*given, {"command": "none"}])
        assert refused(tmp_path / "m", sealed(forged), is_strict=False).line == count


@pytest.mark.parametrize("name", ["clean", "void", "dealt, acknowledged", "unfinished"])
def test_only_a_sealed_record_is_a_whole_one(tmp_path: Path, name: str) -> None:
    """A strict audit reports that result and seal are missing, and how far the record goes."""
    lines = lines_of(record_of(name))
    for count in range(1, len(lines) + (lines[-1]["kind"] != "seal")):
        error = refused(tmp_path / "m", unchained(lines[:count]))
        assert (error.line, error.expected) == (count, "a result and its seal")
        assert error.found == "the end of a record that is unfinished"
        error = refused(tmp_path / "m", unchained(lines[:count]) + b"{")
        assert error.found == "the end of a record that is unfinished, its last line torn"


@pytest.mark.parametrize(("name", "stride"), [("finished", 7), ("dealt, unfinished", 11), ("late move", 17)])
def test_cut_at_any_byte_a_record_is_a_valid_part_or_none(tmp_path: Path, name: str, stride: int) -> None:
    """Wherever the referee crashed, the complete lines hold, or a RecordError says that there is none."""
    data, path = record_of(name), tmp_path / "m"
    whole = audited(path, data, is_strict=False)
    hashes = [line.hash for line in whole.chain.lines]
    ends = [place for place, byte in enumerate(data) if byte == 0x0A]
    around_ends = {end + beside for end in ends for beside in (-1, 0, 1, 2) if end + beside < len(data)}
    for size in sorted({*range(0, len(data), stride), *around_ends}):
        lines, is_torn = data[:size].count(b"\n"), size > 0 and data[size - 1] != 0x0A
        if lines == 0:
            assert refused(path, data[:size], is_strict=False).line == 0
            continue
        record = audited(path, data[:size], is_strict=False)
        assert [line.hash for line in record.chain.lines] == hashes[:lines]
        assert (record.is_torn, record.state, size) == (is_torn, "unfinished", size)


def test_an_unfinished_record_with_a_secret_seed_is_read_only(tmp_path: Path) -> None:
    """Without its seed a match can't be folded: only its chain and its times are checked."""
    lines = lines_of(record_of("dealt, unfinished"))
    forged = changed(lines, 5, ("commands", 0, "what"), {"any": "thing"})
    record = audited(tmp_path / "m", sealed(forged), is_strict=False)
    assert record.transitions[4].commands[0]["what"] == {"any": "thing"}
    assert open_match(read_record(tmp_path / "m"), REGISTRY.game) is None
    assert refused(tmp_path / "m", unchained(forged), is_strict=False).line == 5
    later = changed(lines, 5, ("event", "at_ms"), 1e6)
    assert refused(tmp_path / "m", sealed(later), is_strict=False).expected.startswith("an expulsion for time")


def test_a_torn_result_is_that_of_an_unfinished_match(tmp_path: Path) -> None:
    """A match that was over when its referee crashed holds as far as its record goes."""
    data = b"".join(record_of("clean").splitlines(keepends=True)[:-1])
    for size in (1, 2, 100):
        record = audited(tmp_path / "m", data[:-size], is_strict=False)
        assert (record.result, record.is_torn, len(record.transitions)) == (None, True, len(CLEAN) - 3)


def test_a_torn_seal_is_that_of_an_unfinished_match(tmp_path: Path) -> None:
    """A result without its seal holds in an audit that is not strict."""
    data = record_of("clean")
    for size in (1, 2, 100):
        record = audited(tmp_path / "m", data[:-size], is_strict=False)
        assert (record.state, record.is_torn, len(record.transitions)) == ("unfinished", True, len(CLEAN) - 3)
        assert record.result is not None


def test_a_match_that_is_over_needs_its_result(tmp_path: Path) -> None:
    """A strict audit reports missing last lines; otherwise the rest is an unfinished record."""
    error = refused(tmp_path / "m", unsealed(CLEAN[:-2]))
    assert (error.line, error.expected) == (len(CLEAN) - 2, "a result and its seal")
    assert audited(tmp_path / "m", unsealed(CLEAN[:-2]), is_strict=False).state == "unfinished"


def test_a_match_that_goes_on_has_none(tmp_path: Path) -> None:
    """A result that comes too early is refused at any event."""
    for count in range(1, len(CLEAN) - 3):
        error = refused(tmp_path / "m", sealed([*CLEAN[:count], *CLEAN[-2:]]))
        assert (error.line, error.found) == (count, "a result")
        assert error.expected.startswith("more events (the match is ")


def test_nothing_happens_after_the_end(tmp_path: Path) -> None:
    """Any event after the last one is refused."""
    for extra in CLEAN[1:-2]:
        error = refused(tmp_path / "m", sealed([*CLEAN[:-2], {**extra, "commands": []}, *CLEAN[-2:]]))
        assert (error.line, error.expected) == (len(CLEAN) - 2, "the result, because the match is over")


# # --- the key of the seal


def test_a_record_is_of_one_of_the_keys(tmp_path: Path) -> None:
    """The auditor gives the keys of known referees; without any, the key in the record counts."""
    path, data = tmp_path / "m", record_of("clean")
    for keys in ([], [SEALER.public], [FORGERS_KEY, SEALER.public]):
        assert audited(path, data, keys=keys).header.key == SEALER.public
    error = refused(path, data, keys=[FORGERS_KEY])
    assert (error.line, error.expected) == (0, f"key {FORGERS_KEY}")
    assert audited(path, sealed(CLEAN)).header.key == FORGERS_KEY
    assert refused(path, sealed(CLEAN), keys=[SEALER.public]).line == 0


# --- the rules


class Sterner(QGame):
    """Q without exchanges."""

    def play(self, state: State, move: Move) -> State:
        """Refuse a move that Q allows."""
        if type(move).__name__ == "Exchange":
            raise IllegalMove("q.exchange.pile", "not today")
        return super().play(state, move)


class Generous(QGame):
    """Q with a point for everybody."""

    def restore(self, options: Any, position: Any) -> State:
        """Begin with a point."""
        given = {**position, "players": [{**player, "score": 1} for player in position["players"]]}
        return super().restore(options, given)


class Broken(QGame):
    """Q with a mistake in it."""

    def play(self, state: State, move: Move) -> State:
        """Fail."""
        raise ZeroDivisionError("a mistake")


@pytest.mark.parametrize(("game", "line"), [(Sterner(), 6), (Generous(), 4)])
def test_other_rules_give_another_verdict(tmp_path: Path, game: QGame, line: int) -> None:
    """An audit trusts the rules, not the record: the first line that does not follow from them is named."""
    path = tell("clean").write(tmp_path / "m.jsonl")
    with pytest.raises(RecordError) as caught:
        audit(path, lambda _name: game)
    assert caught.value.line == line


def test_a_mistake_of_the_auditors_own_accuses_no_record(tmp_path: Path) -> None:
    """If the rules fail where the record has no such failure, their own error is raised."""
    path = tell("clean").write(tmp_path / "m.jsonl")
    with pytest.raises(ZeroDivisionError, match="a mistake"):
        audit(path, lambda _name: Broken())


@pytest.mark.forges
def test_a_match_voided_by_a_mistake_in_the_rules(tmp_path: Path) -> None:
    """A fault of the game is found again by the same rules; rules without it refuse the record."""
    match = Match(Broken(), setup_of(2), SEED)
    events = (opened(), ready(0), ready(1), moved(0, 1, PASS, 3.0))
    story = Story(match, tuple((event, match.handle(event)) for event in events))
    path = story.write(tmp_path / "m.jsonl")
    record = audit(path, lambda _name: Broken())
    assert record.result is not None
    assert record.result.result.void == "ZeroDivisionError: a mistake"
    assert refused(path, path.read_bytes()).line == 4


def test_an_audit_shows_what_it_expected(tmp_path: Path) -> None:
    """The error has the first different command, and the content of the record."""
    forged = changed(CLEAN, 5, ("commands", 1, "what", "points"), 4)
    error = refused(tmp_path / "m", sealed(forged))
    assert error.line == 5
    assert error.expected.startswith('command 2: {"command":"tell-seat"')
    assert '"points":3' in error.expected
    assert '"points":4' in error.found


@pytest.mark.parametrize(
    ("count", "expected", "found"),
    [(0, "command 1: ", "no such command"), (3, "command 4: ", "no such command"), (5, "4 commands", "5 commands")],
)
def test_an_audit_counts_commands(tmp_path: Path, count: int, expected: str, found: str) -> None:
    """A missing command is named, an additional one counted."""
    commands = [*CLEAN[5]["commands"], CLEAN[5]["commands"][0]][:count]
    error = refused(tmp_path / "m", sealed(changed(CLEAN, 5, ("commands",), commands)))
    assert (error.line, error.found) == (5, found)
    assert error.expected.startswith(expected)


HUGE = 10**400
COMMANDS: tuple[tuple[str, str, int, Keys, Any], ...] = (
    ("a limit beyond all", "deadline", 5, ("commands", 3, "limit_ms"), HUGE),
    ("a limit of no number", "deadline", 5, ("commands", 3, "limit_ms"), "x"),
    ("no limit", "deadline", 5, ("commands", 3, "limit_ms"), None),
    ("a request to nobody", "deadline", 5, ("commands", 3, "seat"), []),
    ("a foul of nothing", "disconnected", 6, ("commands", 0, "foul"), {}),
    ("a foul of no form", "disconnected", 6, ("commands", 0, "foul"), "x"),
    ("a foul of no cause", "deadline", 6, ("commands", 0, "foul", "cause"), {}),
    ("a view of no seat", "dealt", 3, ("commands", 0, "seat"), "x"),
    ("a view of a seat beyond the last", "dealt", 3, ("commands", 0, "seat"), 99),
    ("a view of nothing", "dealt", 3, ("commands", 0, "view"), {}),
    ("a start without a view", "dealt", 3, ("commands", 0), {"command": "start-seat", "seat": 0}),
    ("a command without a name", "dealt", 3, ("commands", 0), {}),
    ("a command of no name", "dealt", 3, ("commands", 0, "command"), []),
    ("an offer to no seat", "dealt", 1, ("commands", 0, "seat"), HUGE),
)


@pytest.mark.parametrize(
    ("name", "number", "keys", "value"), [row[1:] for row in COMMANDS], ids=[row[0] for row in COMMANDS]
)
def test_commands_of_any_form_are_refused(tmp_path: Path, name: str, number: int, keys: Keys, value: Any) -> None:
    """The line of a malformed command is named, and the only error is a RecordError.

    Without its seed, the record of an unfinished match tells less; it is refused, or accepted as unfinished.
    """
    lines = changed(lines_of(record_of(name)), number, keys, value)
    assert refused(tmp_path / "m", sealed(lines)).line == number
    assert refused(tmp_path / "m", unsealed(lines), is_strict=False).line == number
    without_seed = changed(lines[:-2], 0, ("seed",), None)
    is_accepted(tmp_path / "m", sealed(without_seed), is_strict=False)


def test_a_long_difference_is_cut(tmp_path: Path) -> None:
    """The error stays short, however long the forged line is."""
    error = refused(tmp_path / "m", sealed(changed(CLEAN, 5, ("commands", 0, "what"), {"x": "y" * 10_000})))
    assert len(error.found) < 400


def test_folding_again_changes_no_story() -> None:
    """An audit does not change the story that it folds."""
    whole = tell("clean")
    assert cut(whole, len(whole.steps)).steps == whole.steps
    assert fold(Match(QGame(), whole.match.setup, SEED), *(event for event, _ in whole.steps)) == whole.steps[-1][1]


@pytest.mark.parametrize("kind", [AttributeError, KeyError, TypeError, ValueError])
def test_a_fault_of_the_rules_accuses_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    """An exception in the game's own code at the setup is raised as it is."""
    path = tell("clean").write(tmp_path / "m.jsonl")

    def fail(*_args: object) -> None:
        raise kind("a mistake")

    monkeypatch.setattr(QGame, "parse_options", fail)
    with pytest.raises(kind, match="a mistake"):
        audit(path, REGISTRY.game)
    monkeypatch.undo()
