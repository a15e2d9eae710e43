"""Exceptions in the code of the rules are reported as faults of the rules, and not of a record."""

import pytest

from referee.cli.errors import FAULT, own_faults
from referee.errors import BadRequest
from referee.games.base import IllegalMove, MalformedMove


@pytest.mark.parametrize("error", [IllegalMove("q.fit.row", "it does not fit"), MalformedMove("no move")])
def test_a_move_that_is_refused_where_none_is_judged_is_a_fault(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    """Elsewhere, the same error means that a user did something wrong."""
    with pytest.raises(SystemExit) as end, own_faults("the audit failed"):
        raise error
    assert end.value.code == FAULT
    assert "the audit failed; please report this" in capsys.readouterr().err


def test_what_was_asked_for_wrongly_is_no_fault() -> None:
    """The error about a user's mistake is passed on."""
    with pytest.raises(BadRequest, match="another path"), own_faults("the audit failed"):
        raise BadRequest("give another path")
