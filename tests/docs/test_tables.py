"""Tables of the manual agree with the code."""

import re
from pathlib import Path

import pytest

from referee.pages.tournament_json import TournamentReport

from .make_tables import OBJECTS, OTHERS, PAGES, REFERENCE, TROUBLESHOOTING, fill


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_follow_from_the_structs(page: Path) -> None:
    """If they do not, run make_tables."""
    assert fill(page.read_text()) == page.read_text()


def test_every_object_has_its_table() -> None:
    """Each table is on one of the pages."""
    text = "".join(page.read_text() for page in [*REFERENCE, TROUBLESHOOTING])
    assert re.findall("<!-- part: (.+?) -->", text) == [*OBJECTS, *OTHERS]


def test_every_key_of_the_file_has_a_row_that_says_something() -> None:
    """A key without a meaning would leave its cell empty."""
    text = PAGES[0].read_text()
    for key in TournamentReport.__struct_fields__:
        (meaning,) = re.findall(rf"^\| `{key}[\[\]]*` \| *(.*?) *\|$", text, re.MULTILINE)
        assert meaning, key
