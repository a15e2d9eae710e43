"""The page about `tournament.json` describes it as its structs do."""

import re

from referee.pages.tournament_json import TournamentReport

from .make_tournament_json import PATH, fill

TEXT = PATH.read_text()


def test_the_table_follows_from_the_structs() -> None:
    """To fill it in again changes nothing: run `python -m tests.docs.make_tournament_json`."""
    assert fill(TEXT) == TEXT


def test_every_key_of_the_file_has_a_row_that_says_something() -> None:
    """A key without a meaning would leave its cell empty."""
    for key in TournamentReport.__struct_fields__:
        (meaning,) = re.findall(rf"^\| `{key}[\[\]]*` \| *(.*?) *\|$", TEXT, re.MULTILINE)
        assert meaning, key
