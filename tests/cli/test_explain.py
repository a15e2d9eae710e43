"""`referee explain`: how times are shown."""

import pytest

from referee.cli.explain import _row
from referee.record.explain import Heard, _heard


@pytest.mark.parametrize(
    ("used_ms", "shown"), [(None, ""), (0.0, "0.0"), (-0.04, "0.0"), (-0.06, "-0.1"), (1234.56, "1234.6")]
)
def test_times_have_one_digit(used_ms: float | None, shown: str) -> None:
    """What is rounded to nothing has no sign."""
    assert _row(Heard(line=1, at_ms=0.0, event="ack-received", content={}, used_ms=used_ms))[5] == shown


def test_a_time_of_nothing_has_no_sign() -> None:
    """Where the referee's lag is as long as the answer took, to the microsecond, nothing is charged."""
    event = {"event": "move-received", "seat": 0, "at_ms": 10.0, "sent_ms": 9.0, "first_byte_ms": 10.0}
    heard = _heard(1, {**event, "lag_ms": 1.0004}, None)
    assert [str(heard.used_ms), str(heard.program_ms)] == ["0.0", "0.0"]
