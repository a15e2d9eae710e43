"""Notes for the organiser while a contest is hosted."""

from referee.web.contest.hosting import note_and_say


def test_what_happens_is_told_in_words() -> None:
    """Unknown facts are left out, and flags become yes and no."""
    noted: list[tuple[str, dict[str, object]]] = []
    said: list[str] = []
    take = note_and_say(lambda event, /, **facts: noted.append((event, facts)), said.append)
    take("version-checked", author="ada", passed=True, again=False, trouble=None)
    assert noted == [("version-checked", {"author": "ada", "passed": True, "again": False, "trouble": None})]
    assert said == ["version checked: author ada, passed yes, again no"]
