"""A record as one seat may see it: what concerns another seat stays hidden, the chain and the seal still hold.

What is whose tells hidden_fields.py.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..match.commands import AskMove, Command, ResumeSeat, StartSeat
from .audit.audit import FindGame, audit, open_match
from .audit.evidence import FindWire, check_evidence, no_dialects
from .audit.headers import check_header
from .hidden_fields import OPEN, hidden_fields
from .reader import Chain, Record, RecordError, check_key, check_seal, read_chain
from .redacted_checks import check_visible
from .redacted_forms import record_as_shown
from .schema import BadLine, Header, encode_line, header_of


@dataclass(frozen=True, slots=True)
class RedactedRecord:
    """A redacted record: its chain, its seal, and that it shows what was sealed, are checked; what is hidden is not."""

    header: Header
    seat: int
    """Whose fields it shows."""
    chain: Chain
    record: Record
    """With stand-ins for all that is hidden in its events and its result."""


def redacted_lines(path: Path, find_game: FindGame, seat: int, *, find_wire: FindWire = no_dialects) -> list[bytes]:
    """Return the lines of a record, without line feeds, as one seat may see them, with the views it was shown.

    Args:
        path: a finished record.
        find_game: a game's name -> its rules.
        seat: whose.
        find_wire: as for audit.

    Raises:
        RecordError: the record does not hold, is not finished, or has no such seat.
    """
    record = audit(path, find_game, find_wire=find_wire)
    match = open_match(record, find_game)
    assert match is not None, "a finished record tells its seed"
    if not 0 <= seat < len(match.setup.names):
        raise RecordError(path, 0, f"a seat from 0 to {len(match.setup.names) - 1}", f"seat {seat}")
    lines = []
    for number, data in enumerate(path.read_bytes().splitlines()):
        is_step = 0 < number <= len(record.steps)
        commands = match.handle(record.steps[number - 1].event) if is_step else ()
        fields = record.chain.lines[number].fields
        mine = {field.path for field in hidden_fields(fields) if field.seat == seat}
        lines.append(_redacted(data, commands, mine))
    return lines


def _redacted(data: bytes, commands: tuple[Command, ...], mine: Collection[str]) -> bytes:
    core = msgspec.json.decode(data)
    opened = core.pop(OPEN, {})
    kept = {path: entry for path, entry in opened.items() if path in mine}
    for index, command in enumerate(commands):
        if isinstance(command, AskMove | StartSeat | ResumeSeat) and command.view and f"commands.{index}.view" in kept:
            kept[f"commands.{index}.view"].append(msgspec.msgpack.decode(command.view))
    return encode_line(core, kept)[0]


def check_redacted(
    path: Path, find_game: FindGame, keys: Collection[str] = (), *, find_wire: FindWire = no_dialects
) -> RedactedRecord:
    """Check a redacted record as far as that goes: its chain, what it shows, and its seal.

    Args:
        path: the file.
        find_game: a game's name -> its rules.
        keys: public keys, one of which must have sealed it; empty: the one that it names itself.
        find_wire: as for audit.

    Raises:
        RecordError: the first line that does not hold or shows other fields than those of one seat, or there is no
            seal.
        Exception: what find_game raises for a game, and find_wire for a dialect, that it does not know.
    """
    chain = read_chain(path)
    if not chain.lines or chain.lines[-1].fields.get("kind") != "seal" or chain.rest:
        raise RecordError(path, len(chain.lines), "the seal as the last line", "another end")
    try:
        header = header_of(chain.lines[0])
    except BadLine as error:
        raise RecordError(path, 0, "a header", str(error)) from None
    check_key(path, 0, header.key, keys)
    check_seal(chain)
    record = record_as_shown(chain, header)  # behind this, what is hidden can be looked for
    seat = _seat_of(chain, header)
    check_header(record, is_fixed=chain.lines[0].fields["seed"] is not None)
    check_visible(record, find_game(header.setup.game))
    check_evidence(record, find_wire, seat)
    return RedactedRecord(header, seat, chain, record)


def _seat_of(chain: Chain, header: Header) -> int:
    """Return the seat whose fields, and no others, every line shows in their order, with its views.

    To hide more would be to hide what a line is about.
    """
    seats = set(range(len(header.setup.names)))
    for number, line in enumerate(chain.lines):
        shown, hidden = line.opened, hidden_fields(line.fields)
        seats = {seat for seat in seats if shown == tuple(field.path for field in hidden if field.seat == seat)}
        if [*line.shown] != [path for path in shown if path.endswith(".view")]:
            raise RecordError(chain.path, number, "each view, and no other", ", ".join(line.shown)[:200] or "none")
        if not seats:
            found = ", ".join(line.opened)[:200] or "nothing"
            raise RecordError(chain.path, number, "shown all that one seat may see, and nothing else", found)
    return min(seats)
