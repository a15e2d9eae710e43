"""Who asks for no results sees none before opening them, and is led to no page that shows one."""

import re

from .sites import TestSite


def test_results_are_hidden_where_that_is_asked_for(contest: TestSite) -> None:
    """On the first page they can be opened; a search leads to replays that show none before their end."""
    visitor = contest.visitor()
    plain, hidden = (visitor.ask("GET", path).body.decode() for path in ("/", "/?spoilers=no"))
    closed = re.sub(r"<details>.*?</details>", "", hidden, flags=re.DOTALL)
    for result in ("2½", "report.html"):
        assert result in plain
        assert result in hidden
        assert result not in closed
    assert '<a href="?spoilers=no">Hide results</a>' in plain
    assert '<a href="search?spoilers=no&amp;q=cup">cup</a>' in hidden
    found = visitor.ask("GET", "/search?spoilers=no&q=cup").body.decode()
    assert re.findall(r'href="([^"]*)"', found) == ["./?spoilers=no", "tournaments/cup/replays/cup-1.html?spoilers=no"]
    assert '<input type="hidden" name="spoilers" value="no">' in found
