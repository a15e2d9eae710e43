"""The plugin of the pairing formats that come with the referee: a line for each."""

from collections.abc import Iterable
from typing import Any

from ... import hookimpl
from .base import PairingFormat
from .double_elimination import DoubleElimination
from .gauntlet import Gauntlet
from .knockout import Knockout
from .ladder import Ladder
from .round_robin import RoundRobin
from .swiss import Swiss


@hookimpl
def referee_formats() -> Iterable[PairingFormat[Any]]:
    """Return the built-in formats."""
    return [
        RoundRobin(),
        Swiss(),
        Knockout(),
        DoubleElimination(),
        Gauntlet(),
        Ladder(),
    ]
