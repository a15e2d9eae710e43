"""Adds the dialect cs4500 through the hook; its other modules are imported only when they are used."""

from collections.abc import Iterable

from ...hookspecs import Dialect, Later, hookimpl

NAME = "cs4500"
"""The dialect's name."""
NAME_PATTERN = r"^[a-zA-Z0-9]{1,20}$(?!\n)"
"""The course's rule for names of players."""
NAME_FORM = "1 to 20 letters or digits"


def _later(home: str) -> Later:
    return Later(f"{__package__}.{home}")


@hookimpl
def referee_dialects() -> Iterable[Dialect]:
    """Return the dialect cs4500."""
    dialect = Dialect(
        name=NAME,
        game="q",
        link=_later("server:CourseLink"),
        name_pattern=NAME_PATTERN,
        name_form=NAME_FORM,
        wire=_later("evidence:CourseWire"),
        join=_later("joining:join"),
        server=_later("server:read_server"),
        clients=_later("clients:read_clients"),
    )
    return [dialect]
