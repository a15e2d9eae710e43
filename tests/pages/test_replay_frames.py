"""The frames of a match: each kind of event, and its frame. The records come from the match's own code."""

import dataclasses
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from referee.games.base import Game
from referee.match import events as e
from referee.match.fouls import Cause, Foul
from referee.pages.replay_frames import FoldedRecord, FrameKind, ReplayFrame, StillSecret, fold_record
from referee.pages.words import duration, gains, headline, ranking, reasons, time_split
from referee.plugins import PluginError, load
from referee.record.audit.match import open_match, refold
from referee.record.reader import RecordError, read_record
from referee.text import MAX_CHARS, plain_text, printable

from ..match.folding import lost
from ..record.records import FAULTS, Story, cut, story
from .matches import HOSTILE_MOVE, hostile, ordinary

REGISTRY = load()


def folded(told: Story, folder: Path) -> FoldedRecord:
    """Write a story's record, read it again and apply its events."""
    return fold_record(read_record(told.write(folder / "match.jsonl")), REGISTRY.game)


def kinds(seen: FoldedRecord) -> list[tuple[str, int, int | None]]:
    """Return kind, turn and seat of every frame."""
    return [(str(frame.kind), frame.turn, frame.seat) for frame in seen.frames]


@pytest.mark.parametrize("acknowledge", [False, True])
def test_every_turn_is_a_frame(tmp_path: Path, *, acknowledge: bool) -> None:
    """First comes the deal, then each move with the next state after the draw, with the points of the match."""
    seen = folded(ordinary(5, acknowledge=acknowledge), tmp_path)
    turns = seen.match.turn
    assert kinds(seen) == [("deal", 0, None), *(("move", turn, (turn - 1) % 4) for turn in range(1, turns + 1))]
    for frame in seen.frames:
        assert all(len(hand) == 6 for hand in frame.state.hands)
    record = read_record(tmp_path / "match.jsonl")
    again = open_match(record, REGISTRY.game)
    assert again is not None
    scores = [match.state.scores for step, match in refold(record, again) if isinstance(step.event, e.MoveReceived)]
    assert scores == [frame.scores for frame in seen.frames[1:]]
    assert [(frame.turn % 4) for frame in seen.frames[:-1]] == [frame.to_move for frame in seen.frames[:-1]]


@pytest.mark.parametrize("name", FAULTS)
def test_every_foul_is_a_frame(tmp_path: Path, name: str) -> None:
    """Each foul, at any time, has one frame with the foul of the result; its seat is out from then on."""
    kind, fault = FAULTS[name]
    seen = folded(story({kind: fault}, acknowledge=True), tmp_path)
    assert seen.match.result is not None
    (foul,) = seen.match.result.fouls
    (frame,) = [frame for frame in seen.frames if frame.kind is FrameKind.EXPELLED]
    assert (frame.foul, frame.seat, frame.turn) == (foul, foul.seat, foul.turn)
    at = seen.frames.index(frame)
    assert [foul.seat in shown.out for shown in seen.frames] == [number >= at for number in range(len(seen.frames))]


@pytest.mark.forges  # a seed that is sent before the end, with nonces that count
def test_a_foul_before_the_deal_has_no_board(tmp_path: Path) -> None:
    """Its frame comes before the deal, and the deal's own before the first turn."""
    whole = ordinary(2)
    slowest = whole.steps[8][0]
    assert isinstance(slowest, e.NonceReceived)
    told = dataclasses.replace(cut(whole, 8, lost(slowest.seat, slowest.at_ms)), is_fixed=True)
    seen = folded(told, tmp_path)
    assert kinds(seen) == [("expelled", 0, slowest.seat), ("deal", 0, None)]
    assert [frame.state is None for frame in seen.frames] == [True, False]
    assert seen.frames[1].to_move == min({0, 1} - {slowest.seat})


def test_a_void_match_ends_with_the_fault(tmp_path: Path) -> None:
    """The referee's own fault is the last frame, and nobody is to move."""
    whole = ordinary(5)
    told = cut(whole, 8, e.RefereeFailed(at_ms=whole.steps[7][0].at_ms + 1.0, detail="the disk is full"))
    last = folded(told, tmp_path).frames[-1]
    assert (last.kind, last.fault, last.to_move) == (FrameKind.VOID, "the disk is full", None)
    assert reasons(last, {}) == [("fault of the referee", "the disk is full")]


def test_every_answer_has_its_time(tmp_path: Path) -> None:
    """The times of the answers add up to the result's, and each is at its turn.

    Before the first turn there are two, the commitment to a nonce and the nonce.
    """
    seen = folded(ordinary(5), tmp_path)
    assert seen.match.result is not None
    for seat, used_ms in enumerate(seen.match.result.used_ms):
        own = [answer for answer in seen.answers if answer.seat == seat]
        assert used_ms == pytest.approx(sum(answer.used_ms for answer in own), abs=0.001)
        assert [answer.turn for answer in own] == [0, 0, *range(seat + 1, seen.match.turn + 1, 4)]


@pytest.mark.forges
def test_a_forged_result_does_not_hold(tmp_path: Path) -> None:
    """A result that does not follow is refused, even if the chain is whole."""
    record = read_record(ordinary(2).write(tmp_path / "match.jsonl"))
    assert record.result is not None
    better = msgspec.structs.replace(record.result.result, winners=(3,))
    forged = replace(record, result=msgspec.structs.replace(record.result, result=better))
    with pytest.raises(RecordError, match="expected result"):
        fold_record(forged, REGISTRY.game)


def test_an_unfinished_match_is_shown_if_its_seed_is_told(tmp_path: Path) -> None:
    """With a fixed seed all events are shown; with a secret one nothing can be."""
    assert folded(cut(ordinary(5, nonces=False), 9), tmp_path).match.result is None
    secret = cut(ordinary(5), 9).write(tmp_path / "secret.jsonl")
    with pytest.raises(StillSecret, match="still secret"):
        fold_record(read_record(secret), REGISTRY.game)


def test_an_unknown_game_is_the_finders_affair(tmp_path: Path) -> None:
    """The error of the function that finds games is raised as it is."""
    record = read_record(ordinary(1).write(tmp_path / "match.jsonl"))

    def _find(name: str) -> Game[object, object, object]:
        raise PluginError(name)

    with pytest.raises(PluginError, match="q"):
        fold_record(record, _find)


# --- words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcode ★", "plain, ünïcode ★"),
        ("\x1b[2J", "\\x1b[2J"),
        ("a\nb\tc\r\x00", "a\\nb\\tc\\r\\x00"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800", "\\ud800"),
        ("x" * MAX_CHARS, "x" * MAX_CHARS),
        ("x" * (MAX_CHARS + 1), "x" * MAX_CHARS + f"… ({MAX_CHARS + 1} characters)"),
    ],
)
def test_only_printable_text_is_shown(text: str, shown: str) -> None:
    """Control characters, changes of direction and lone surrogates become visible; long texts are cut."""
    assert shown == printable(text)


@pytest.mark.parametrize(
    ("move", "shown"),
    [
        ({"action": "pass"}, "pass"),
        ({"action": "place", "tiles": [[0, -1, "red-8star"]]}, "place tiles [[0, -1, red-8star]]"),
        ({"action": 1}, '{"action": 1}'),
        ("a b", '"a b"'),
        ("", '""'),
        (None, "null"),
        ([True, 1.5, "x"], "[true, 1.5, x]"),
    ],
)
def test_moves_as_words(move: object, shown: str) -> None:
    """Each move is on one line."""
    assert shown == plain_text(move)


def test_a_bottomless_move_is_told() -> None:
    """A value that is too deep for any reader is still shown."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert plain_text(deep) == "(too deep to show)"


@pytest.mark.parametrize(
    ("ms", "shown"), [(0.04, "0.0 ms"), (9.94, "9.9 ms"), (10, "10 ms"), (1234, "1.23 s"), (125_000, "2 min 5 s")]
)
def test_durations(ms: float, shown: str) -> None:
    """A time has a suitable unit."""
    assert shown == duration(ms)


def test_a_verdict_is_told_with_its_rule() -> None:
    """A frame's reasons have the cause, the rule's id, text and source, and the detail; empty ones are left out."""
    foul = Foul(seat=1, cause=Cause.ILLEGAL_MOVE, at_ms=1.0, turn=2, rule="q.fit.row", detail="so")
    frame = ReplayFrame(FrameKind.EXPELLED, 2, 1.0, None, None, (1,), seat=1, foul=foul)
    rules = REGISTRY.game("q").rules
    assert reasons(frame, rules) == [
        ("cause", "illegal-move"),
        ("rule", "q.fit.row"),
        ("it says", rules["q.fit.row"].text),
        ("source", rules["q.fit.row"].source),
        ("detail", "so"),
    ]
    assert headline(frame, ("ada", "bob")) == "bob is expelled"


def test_hostile_players_are_told_harmlessly(tmp_path: Path) -> None:
    """No text in a frame has a control character, and none is lost."""
    seen = folded(hostile(), tmp_path)
    assert seen.match.result is not None
    said = [text for frame in seen.frames for _, text in reasons(frame, seen.match.game.rules)]
    said += [headline(frame, seen.match.setup.names) for frame in seen.frames]
    said += [row.name + row.note for row in ranking(seen.match.setup.names, seen.match.result, ())]
    assert all(text.isprintable() for text in [*said, plain_text(HOSTILE_MOVE)])
    assert any("\\x1b[2J" in text for text in said)


def test_points_of_a_move_are_its_gain(tmp_path: Path) -> None:
    """The gains of the moves add up to the final points; other events have no gain."""
    seen = folded(ordinary(6), tmp_path)
    brought = [0, 0, 0, 0]
    for index, frame in enumerate(seen.frames):
        if frame.seat is not None:
            brought[frame.seat] += gains(seen.frames, index)
    assert tuple(brought) == seen.frames[-1].scores
    assert gains(seen.frames, 0) == 0


@pytest.mark.parametrize("name", FAULTS)
def test_an_expulsion_tells_whose_the_time_was(tmp_path: Path, name: str) -> None:
    """Answers have the time from first byte to last, deadlines the passed time, other events their instant."""
    kind, fault = FAULTS[name]
    (frame,) = [frame for frame in folded(story({kind: fault}, acknowledge=True), tmp_path).frames if frame.foul]
    assert frame.judged is not None
    told, event = time_split(frame), frame.judged.event
    match event:
        case e.DeadlinePassed():
            expected = "not complete after "
        case e.Answer():
            expected = " (first byte after "
        case _:
            expected = " after it was asked, of the " if frame.judged.asked else "was not waiting for an answer"
    assert expected in told
    assert ("the referee's own" in told) == isinstance(event, e.Answer | e.DeadlinePassed)
    assert frame.shown == (None if frame.state is None else frame.judged.state)
