"""Words for people: for an unknown name, the name that was probably meant is suggested."""

import pytest

from referee.text import nearest

GAMES = ("q", "quincy", "openspiel:chess", "openspiel:hearts")


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        ("quincey", GAMES, '; did you mean "quincy"?'),
        ("chess", GAMES, '; did you mean "openspiel:chess"?'),
        ("Hearts", GAMES, '; did you mean "openspiel:hearts"?'),
        ("zzz", GAMES, "; there are: q, quincy, openspiel:chess, openspiel:hearts"),
        ("zzz", [f"game{number:02}" for number in range(21)], "; there are: 21, such as game00, game01, game02"),
        ("zzz", (), "; there are none"),
    ],
)
def test_an_unknown_name_is_answered(name: str, known: list[str], text: str) -> None:
    """The most similar name is suggested, also by its part after the colon; otherwise all, or at most twenty."""
    answer = nearest(name, known)
    assert answer.startswith(text)
    assert answer.count(",") <= 20
