"""Writes the record of a match, line by line; whoever writes it syncs it to the disk."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..match.commands import Command, Result
from ..match.events import Event
from ..match.setup import MatchSetup
from ..match.standstills import Standstill
from ..tournament.match_context import MatchContext
from .chain_writer import ChainWriter, NotWritten
from .hidden_fields import new_salts
from .reader import ChainEnd
from .schema import FORMAT
from .seal import Sealer
from .step_lines import step_line

__all__ = ["NotWritten", "RecordWriter"]


class RecordWriter(ChainWriter):
    """The record of one running match.

    Args:
        path: the file; its folder is made, an existing file is never overwritten.
        sealer: the key that seals the record.
        after: where the record ends if its referee died; a torn line behind that is cut off.

    Raises:
        FileExistsError: there is a record of that name.
        BlockingIOError: another referee is writing it.
        OSError: the file can't be made or written.
    """

    def __init__(self, path: Path, sealer: Sealer, after: ChainEnd | None = None) -> None:
        super().__init__(path, sealer, after)
        self._salts = new_salts()

    def write_header(
        self,
        setup: MatchSetup,
        seed: bytes,
        *,
        is_fixed: bool,
        referee: str,
        opened: str,
        programs: list[str] | None = None,
        folder: str | None = None,
        context: MatchContext | None = None,
        dialect: str | None = None,
        durability: str | None = None,
    ) -> None:
        """Write the first line.

        Args:
            setup: what was settled beforehand.
            seed: the match's seed; it is written so that this key alone can read it.
            is_fixed: whether the seed is no secret: it is written openly, too.
            referee: version of this program.
            opened: wall-clock time, ISO 8601 in UTC.
            programs: how the players' programs were given, by seat, if the referee started them.
            folder: the one in which they were.
            context: what the match was opened for, if it is one of a tournament.
            dialect: the wire that its players speak; None: the referee's own.
            durability: `turn` if whatever follows from a line waits for the disk; else None.
        """
        self.write(
            "header",
            format=FORMAT,
            referee=referee,
            opened=opened,
            key=self._sealer.public,
            setup=msgspec.to_builtins(setup),
            locked_seed=self._sealer.lock(seed, setup.commitment),
            seed=seed.hex() if is_fixed else None,
            programs=programs,
            **({} if folder is None else {"folder": folder}),
            **({} if context is None else {"context": msgspec.to_builtins(context)}),
            **({} if dialect is None else {"dialect": dialect}),
            **({} if durability is None else {"durability": durability}),
        )

    def write_step(self, event: Event, commands: tuple[Command, ...], standstills: Sequence[Standstill] = ()) -> None:
        """Write an event and the commands it gave.

        Args:
            event: what happened.
            commands: what followed.
            standstills: of the referee, those that were not written yet.

        Raises:
            NotWritten: the disk refused; so for all that is written.
        """
        self.append(*step_line(event, commands, standstills, self._salts))

    def write_result(self, result: Result, *, seed: str, nonces: list[str | None]) -> None:
        """Write the result and the seal; whoever calls this syncs and closes the file.

        Raises:
            NotWritten: the disk refused.
        """
        self.write("result", result=msgspec.to_builtins(result), seed=seed, nonces=nonces)
        self.seal()
