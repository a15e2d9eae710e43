"""Causes in lists: short, without the organiser's folders, and once in full."""

import pytest

from referee.match.fouls import Cause, Foul
from referee.pages.words import SHORT_CHARS, Causes, short_cause, why
from referee.text import placeless


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("red-star is not in the hand", "red-star is not in the hand"),
        ("1/2 of a move, and/or none", "1/2 of a move, and/or none"),
        ("its last words are in /srv/cup/logs/m.seat0.ada.stderr", "its last words are in m.seat0.ada.stderr"),
        ("its last words are in logs/m.stderr", "its last words are in logs/m.stderr"),
        ("/srv/ada/player.js:3 (all of it is in /srv/cup/ada.log)", "player.js:3 (all of it is in ada.log)"),
        ('File "/srv/ada/main.py", line 3', 'File "main.py", line 3'),
        ("at file:///srv/ada/x.mjs:1", "at x.mjs:1"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("cmd:/srv/ada/player", "cmd:player"),
    ],
)
def test_paths_are_cut_down(text: str, expected: str) -> None:
    """Only the last part of an absolute path is left; other words stay."""
    assert expected == placeless(text)


def test_a_cause_is_told_in_full_once() -> None:
    """The same cause of the same player is short from the second time on; others are in full."""
    causes, long = Causes(), f"exit status 1 in /srv/cup/x: {'y' * 200}"
    assert causes.tell("ada", long) == long
    again = causes.tell("ada", long.replace("/srv/cup/x", "/srv/cup2/x"))
    assert again == short_cause(long)
    assert (len(again), again) == (SHORT_CHARS, f"exit status 1 in x: {'y' * 20}...{'y' * 57}")
    assert causes.tell("bob", long) == long
    assert causes.tell("ada", f"other: {long}") == f"other: {long}"


def test_a_crash_in_short_names_its_error() -> None:
    """The exit status comes first, and the text ends with the error."""
    words = '..."/srv/ada/client.py", line 315, in _answer move = self.choose(message.view) ' + "^" * 40
    short = short_cause(f"exit status 1: {words} RuntimeError: I forgot something")
    assert short.startswith('exit status 1: ..."client.py", line 315,')
    assert short.endswith("^^ RuntimeError: I forgot something")


@pytest.mark.parametrize(
    ("foul", "expected"),
    [
        (
            Foul(seat=0, cause=Cause.OVERSIZE, at_ms=1.0, turn=0, code="oversize", detail="in place of its hello"),
            "in place of its hello",
        ),
        (
            Foul(seat=0, cause=Cause.MALFORMED_MESSAGE, at_ms=1.0, turn=0, code="empty", detail="nothing in it"),
            "empty: nothing in it",
        ),
        (
            Foul(
                seat=0,
                cause=Cause.OUT_OF_TURN,
                at_ms=1.0,
                turn=3,
                code="out-of-turn",
                detail="answers number 1, number 3 was asked",
                evidence="80",
            ),
            "answers number 1, number 3 was asked",
        ),
    ],
)
def test_no_word_is_said_twice(foul: Foul, expected: str) -> None:
    """A code that equals the cause's name is left out."""
    assert why(foul) == expected
