"""Data between the coordinator of a cluster and its hosts, as files: answers, records, programs, keys."""

from datetime import UTC, datetime
from pathlib import Path
from random import Random

import msgspec
from msgspec.structs import replace

from referee.cli.submission_client import find_service
from referee.cluster.followed_match import FollowedMatch
from referee.cluster.host_states import HostReport, read_status
from referee.cluster.messages import (
    RETURNED,
    BrokenOff,
    HostAnswer,
    Needs,
    NotBegun,
    PlayedMatch,
    RunAnswer,
    encode_message,
)
from referee.cluster.programs import ProgramStore, hash_folder, pack_folder
from referee.cluster.security import FILES, ROLES, load_security, make_keys
from referee.observers import Observers
from referee.programs.file_view import nothing_private
from referee.record.reader import RecordError, read_record
from referee.settings import RunTerms
from referee.tournament.hosts import Calibration

from ..net.jobs.played import JOB, record_of
from ..record.records import SEALER
from . import records
from .files import texts_of
from .handed_in import write_player
from .running import Failed, Kind
from .values import mutated, mutated_text

_ANSWER, _PROGRAM, _RETURNED = "answer", "program", "returned.jsonl"
_JOB = replace(JOB, key=SEALER.public)
_CALIBRATION = Calibration(tables=2, wall_ms=10.0, processor_ms=9.0)
_REPORT = HostReport(
    playing=1,
    referee="0.1",
    python="3.11",
    distributed="2026",
    cores=2,
    missing=("network",),
    lag_ms=0.5,
    free_mib=100.0,
    calibration=_CALIBRATION,
)
_ANSWERS = (
    *(RunAnswer(refused="no", calibration=_CALIBRATION), NotBegun(why="no"), Needs(digests=("ab" * 32,)), _REPORT),
    *(PlayedMatch(record=b"{}\n", printed={0: b"hello"}), BrokenOff(why="gone", printed={1: b"x"})),
)


def _changed_msgpack(random: Random, data: bytes) -> bytes:
    """Change bytes of msgpack, or a value in it."""
    if random.random() < 0.4:
        return mutated_text(random, data)
    content, _ = mutated(random, [msgspec.msgpack.decode(data)])
    try:
        return msgspec.msgpack.encode(content[0] if len(content) == 1 else content)
    except (OverflowError, ValueError):  # msgpack has no such number
        return data[:-1]


def _write_answer(folder: Path) -> None:
    (folder / _ANSWER).write_bytes(encode_message(_ANSWERS[0]))


def _change_answer(folder: Path, random: Random) -> str:
    answer = random.choice(_ANSWERS)
    (folder / _ANSWER).write_bytes(_changed_msgpack(random, encode_message(answer)))
    return type(answer).__name__


def _answers(folder: Path) -> None:
    data = (folder / _ANSWER).read_bytes()
    for kind in (RunAnswer, RETURNED):
        HostAnswer(number=1, data=data).read(kind)
    read_status({"name": "host"}, data)


def _write_program(folder: Path) -> None:
    write_player(folder)
    (folder / "data").mkdir()
    (folder / "data" / "run").symlink_to("../main.py")
    (folder / _PROGRAM).write_bytes(pack_folder(folder, nothing_private, ()))


def _change_program(folder: Path, random: Random) -> str:
    path = folder / _PROGRAM
    path.write_bytes(_changed_msgpack(random, path.read_bytes()))
    return ""


def _keep_program(folder: Path) -> None:
    """Keep a program as a host does.

    Raises:
        Failed: a part of it was written outside of its folder.
    """
    packed_program, there = (folder / _PROGRAM).read_bytes(), _below(folder)
    try:
        ProgramStore(folder / "kept").store(hash_folder(packed_program), packed_program)
    finally:
        if strays := [path for path in _below(folder) - there if path.parts[0] != "kept"]:
            raise Failed(f"{strays[0]} is in no program's folder")


def _below(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def _write_record(folder: Path) -> None:
    for name in (_RETURNED, records.HONEST):
        (folder / name).write_bytes(record_of(_JOB))
    (folder / records.HOW).write_text(records.How.TEXT)


def _change_record(folder: Path, random: Random) -> str:
    how, what = records.change_record(folder / _RETURNED, random)
    (folder / records.HOW).write_text(how)
    return f"{how}: {what}"


def _accept(folder: Path) -> None:
    """Judge and seal a record that a host returned.

    Raises:
        Failed: it was sealed, although it does not agree with its events.
    """
    (folder / "here").mkdir()
    followed = FollowedMatch(_JOB, folder / "here", Observers(), RunTerms())
    data = (folder / _RETURNED).read_bytes()
    followed.take_lines(0, data[: len(data) // 2].rpartition(b"\n")[0] + b"\n")
    try:
        followed.end(data)
        judged = followed.judge()
        followed.remote.seal(judged.result, judged.end, SEALER).close()
    except RecordError:
        followed.refuse()
        followed.void("its record does not hold", SEALER)
        return
    told, honest = (records.told(read_record(path)) for path in (followed.remote.path, folder / records.HONEST))
    if told != honest and (folder / records.HOW).read_text() != records.How.FOLDED:
        raise Failed("a change was not found")


def _write_keys(folder: Path) -> None:
    make_keys(folder / "keys", days=9, hosts=["localhost"], now=datetime.now(UTC))


def _connect(folder: Path) -> None:
    security = load_security(folder / "keys")
    for role in ROLES:
        security.get_connection_args(role)


def _trust(folder: Path) -> None:
    find_service("https://localhost:1", "token", folder / "keys" / FILES[0]).connect().close()


KINDS: dict[str, Kind] = {
    "host's answer": Kind(_write_answer, _change_answer, {"coordinator": _answers}),
    "host's record": Kind(_write_record, _change_record, {"coordinator": _accept}),
    "program": Kind(_write_program, _change_program, {"host": _keep_program}),
    "certificate": Kind(
        _write_keys, texts_of(*(f"keys/{name}" for name in FILES)), {"worker": _connect, "--ca": _trust}
    ),
}
"""Name -> kind."""
