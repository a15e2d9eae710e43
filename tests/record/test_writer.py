"""Writing a record: exact bytes, a chain that others can check, nothing buffered, overwritten or swallowed."""

import contextlib
import io
import json
import os
import resource
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from referee.match.setup import MatchSetup
from referee.record.key import Sealer
from referee.record.reader import read_chain, read_record
from referee.record.writer import RecordWriter
from referee.testing import JUNK

from ..driving import drive
from ..match.folding import SEED, new_match, opened
from .forging import ZEROS, audited, digest, encoded, hash_of, lines_of, said
from .records import SEALER, STORIES, FaultySeat, Story, cut, record_of, tell

TINY = MatchSetup(match="tiny", game="q", names=("a", "b"), commitment="c" * 64)
KEY = Sealer(Ed25519PrivateKey.from_private_bytes(bytes(32)))
HEADER = (
    b'{"n":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","kind":"header","format":1,'
    b'"referee":"0.1","opened":"then","key":"3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29",'
    b'"setup":{"match":"tiny","game":"q","options":{},"names":["a","b"],'
    b'"time":{"per_move_ms":6000.0,"start_ms":30000.0,"bank_ms":null,"increment_ms":0.0},"lag_margin_ms":250.0,"default_margin":null,"lot":false,"acknowledge":false,"nonces":true,'
    b'"seed_opens":"at-end","commitment":"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","position":null},'
    b'"locked_seed":"0000000000000000000000007a1aa59f8bdd5461034bef9a87efd0252328a5401565cddb6ee6298ef38a997a3993453578c36e89049eee26c6f3db56","seed":{"hidden":"%s"},"programs":null}'
    % digest(b"5a" * 16 + b'"' + b"07" * 32 + b'"').encode()
)
STEP = (
    b'{"n":1,"prev":"%s","kind":"step","event":{"event":"match-opened","at_ms":0.5},"commands":[]}\n'
    % digest(HEADER).encode()
)
SEAL = (
    b'{"n":2,"prev":"%s","kind":"seal",'
    b'"signature":"ad49632a9270b41aaf25ebdb353c0b03fc2cda7d69987fdce05de8fd800549516774b7aaef3465c7'
    b'c7007867fcbf24f955d29789ef658445e335c962264ab507"}\n' % digest(STEP[:-1]).encode()
)
LINE_KEYS = {
    "header": ["format", "referee", "opened", "key", "setup", "locked_seed", "seed", "programs"],
    "step": ["event", "commands"],
    "result": ["result", "seed", "nonces"],
    "seal": ["signature"],
}


def test_the_bytes_of_a_tiny_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header, a transition and a seal are exactly these bytes on any machine, except for random values."""
    monkeypatch.setattr("secrets.token_hex", lambda count: "5a" * count)
    monkeypatch.setattr("os.urandom", bytes)
    writer = RecordWriter(tmp_path / "tiny.log", KEY)
    writer.write_header(TINY, b"\x07" * 32, is_fixed=True, referee="0.1", opened="then")
    opened_seed = b',"open":{"seed":["%s","%s"]}}\n' % (b"5a" * 16, b"07" * 32)
    assert writer.path.read_bytes() == HEADER[:-1] + opened_seed
    writer.write_transition(opened(0.5), ())
    assert writer.path.read_bytes() == HEADER[:-1] + opened_seed + STEP
    writer.seal()
    writer.close()
    assert writer.path.read_bytes() == HEADER[:-1] + opened_seed + STEP + SEAL


@pytest.mark.parametrize("is_fixed", [True, False])
def test_the_seed_is_locked_in_the_header(tmp_path: Path, is_fixed: bool) -> None:  # noqa: FBT001 - a column
    """Only the referee's key opens it; it is also there openly if it was fixed beforehand."""
    writer = RecordWriter(tmp_path / "m.jsonl", KEY)
    writer.write_header(TINY, SEED, is_fixed=is_fixed, referee="", opened="", programs=["x", "y"])
    writer.close()
    data = writer.path.read_bytes()
    (line,) = lines_of(data)
    writer.path.unlink()
    assert KEY.unlock(line["locked_seed"], TINY.commitment) == SEED
    assert (line["seed"], line["programs"], line["key"]) == (SEED.hex() if is_fixed else None, ["x", "y"], KEY.public)
    assert (SEED.hex().encode() in data) == is_fixed


@pytest.mark.parametrize("name", STORIES)
def test_every_line_is_chained_to_the_one_before(name: str) -> None:
    """Numbers count from 0, and each line has the SHA-256 of the bytes before it; hashlib alone checks this."""
    prev = ZEROS
    bodies = record_of(name).split(b"\n")
    assert bodies.pop() == b""
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(json.loads(bodies[0])["key"]))
    for number, body in enumerate(bodies):
        line = json.loads(body)
        kind, entries = line["kind"], line.pop("open", None)
        keys = [key for key in line if key not in ("standstills", "context")]
        assert keys == ["n", "prev", "kind", *LINE_KEYS[kind]]
        assert (line["n"], line["prev"]) == (number, prev)
        assert entries != {}
        if kind == "seal":
            key.verify(bytes.fromhex(line["signature"]), f"referee record 1\n{prev}".encode())
        prev = digest(encoded(line))


def test_no_salt_is_drawn_twice() -> None:
    """No two hidden fields of all records have the same salt, and each salt has 16 bytes."""
    salts = [salt for name in STORIES for line in lines_of(record_of(name)) for salt in line["open"].values()]
    assert len(set(salts)) == len(salts) > 1000
    assert {len(bytes.fromhex(salt)) for salt in salts} == {16}


def test_every_line_stands_in_the_file_before_the_caller_goes_on(tmp_path: Path) -> None:
    """After each call the file ends with that line, and `head` is its hash."""
    story = tell("clean")
    writer = story.begin(tmp_path / "m.jsonl")
    for count, (event, commands) in enumerate(story.steps[:-1], 2):
        writer.write_transition(event, commands)
        bodies = writer.path.read_bytes().split(b"\n")
        assert len(bodies) == count + 1
        assert bodies[-1] == b""
        assert writer.head == hash_of(lines_of(bodies[-2])[0])
    writer.close()


def test_the_whole_record_is_synced_with_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the result, the disk has the whole file, and then its name in the folder."""
    synced: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append((os.fstat(number).st_ino, os.fstat(number).st_size)))
    path = tell("clean").write(tmp_path / "m.jsonl")
    assert synced[0] == (path.stat().st_ino, len(record_of("clean")))
    assert [inode for inode, _ in synced[1:]] == [tmp_path.stat().st_ino]


def test_a_failing_sync_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the disk at the end reaches the caller; the file stays."""

    def fail(_number: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output error"):
        tell("clean").write(tmp_path / "m.jsonl")
    assert said((tmp_path / "m.jsonl").read_bytes()) == said(record_of("clean"))


def test_folders_are_made(tmp_path: Path) -> None:
    """The folder of a record need not exist."""
    tell("clean").write(tmp_path / "some" / "where" / "m.jsonl")
    assert said((tmp_path / "some" / "where" / "m.jsonl").read_bytes()) == said(record_of("clean"))


def link(path: Path) -> None:
    """Let the name be a link to another file."""
    path.with_name("other").write_bytes(b"other")
    path.symlink_to("other")


OCCUPY: dict[str, Callable[[Path], Any]] = {
    "record": lambda path: path.write_bytes(record_of("clean")),
    "empty": Path.touch,
    "folder": Path.mkdir,
    "link to nowhere": lambda path: path.symlink_to("nowhere"),
    "link": link,
}


@pytest.mark.forges
@pytest.mark.parametrize("occupy", OCCUPY.values(), ids=OCCUPY)
def test_nothing_is_overwritten(tmp_path: Path, occupy: Callable[[Path], Any]) -> None:
    """If a file has the record's name, no record is begun, and the file is not changed."""
    path = tmp_path / "m.jsonl"
    occupy(path)
    before = {found: found.is_file() and found.read_bytes() for found in tmp_path.iterdir()}
    with pytest.raises(FileExistsError):
        RecordWriter(path, SEALER)
    assert before == {found: found.is_file() and found.read_bytes() for found in tmp_path.iterdir()}


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    """A folder that can't be made is an error of the disk."""
    (tmp_path / "logs").touch()
    with pytest.raises(OSError, match="logs"):
        RecordWriter(tmp_path / "logs" / "m.jsonl", SEALER)


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Let the system refuse to make any file longer than a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


SECOND_END = record_of("clean").index(b"\n", len(record_of("clean").split(b"\n")[0]) + 1) + 1
SEAL_BEGIN = record_of("clean").rindex(b"\n", 0, -1) + 1
SIZES = (SECOND_END - 1, SECOND_END, SECOND_END + 1, 3000, SEAL_BEGIN - 1, SEAL_BEGIN, len(record_of("clean")) - 1)


def complete(data: bytes) -> bytes:
    """Return the data without a torn line."""
    return data[: data.rindex(b"\n") + 1]


@pytest.mark.parametrize("size", SIZES)
def test_a_disk_that_fills_up_leaves_a_record_that_holds(tmp_path: Path, size: int) -> None:
    """The caller gets an error for the transition that found no room; all earlier ones are there and hold."""
    path = tmp_path / "m.jsonl"
    with files_up_to(size), pytest.raises(OSError, match="too large"):
        tell("clean").write(path)
    left = path.read_bytes()
    assert len(left) == size
    assert said(complete(left)) == said(complete(record_of("clean")[:size]))
    record = audited(path, left, is_strict=False)
    assert (record.state, record.is_torn) == ("unfinished", not left.endswith(b"\n"))
    assert len(record.chain.lines) == left.count(b"\n")


def test_a_closed_record_takes_no_line(tmp_path: Path) -> None:
    """A line after the last one, or after closing, is a mistake of the program, and changes nothing."""
    finished = tell("clean").write(tmp_path / "m.jsonl")
    writer = tell("unfinished").begin(tmp_path / "n.jsonl")
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="closed file"):
        writer.write_transition(opened(), ())
    assert read_record(writer.path).transitions == ()
    assert said(finished.read_bytes()) == said(record_of("clean"))


# --- structlog


def drop(_logger: Any, _name: str, _fields: Any) -> Any:
    """Drop everything."""
    raise structlog.DropEvent


def add(_logger: Any, _name: str, fields: Any) -> Any:
    """Change everything."""
    return {**fields, "n": 99, "extra": True}


CONFIGURATIONS: dict[str, Mapping[str, Any]] = {
    "drops everything": {"processors": [drop]},
    "changes everything": {"processors": [add, structlog.processors.JSONRenderer()]},
    "only critical": {"wrapper_class": structlog.make_filtering_bound_logger(50)},
    "another factory": {"logger_factory": structlog.PrintLoggerFactory(io.StringIO())},
    "returns": {"logger_factory": structlog.ReturnLoggerFactory(), "processors": []},
    "sorted context": {"context_class": lambda *_pairs: {"context": "of another"}},
    "cached": {"cache_logger_on_first_use": True, "processors": [drop]},
}


@pytest.fixture
def configured() -> Iterator[Callable[..., None]]:
    """Configure structlog globally, and restore it."""
    yield structlog.configure
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.mark.parametrize("configuration", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
@pytest.mark.parametrize("is_early", [True, False])
def test_nobody_silences_a_record(
    tmp_path: Path,
    configured: Callable[..., None],
    configuration: Mapping[str, Any],
    is_early: bool,  # noqa: FBT001  # a column of a table
) -> None:
    """The record is the same, however structlog is configured before or during its writing."""
    story, path = tell("clean"), tmp_path / "m.jsonl"
    if is_early:
        configured(**configuration)
    structlog.contextvars.bind_contextvars(n=99, extra=True)
    writer = story.begin(path)
    configured(**configuration)
    for event, commands in story.steps:
        writer.write_transition(event, commands)
    result = story.match.result
    assert result is not None
    writer.end(story.match)
    writer.close()
    assert said(path.read_bytes()) == said(record_of("clean"))
    assert read_record(path).state == "sealed"


# # --- moves of any form


def with_move(move: Any) -> Story:
    """Return a match with this first move."""
    match = new_match(["green-star"], ["yellow-star"])
    seats = [FaultySeat(lambda _view: move, 0), FaultySeat(lambda _view: move, 1)]
    return Story(match, tuple(drive(match, seats)))


LOOKS_HIDDEN: tuple[Any, ...] = ({"hidden": "0" * 64}, [{"hidden": None}], {"open": {}})


@pytest.mark.parametrize("move", [*JUNK, *LOOKS_HIDDEN], ids=lambda move: f"{move!r:.20}")
def test_whatever_a_player_sends_stands_in_the_record(tmp_path: Path, move: Any) -> None:
    """A move of any form is read back as it came, and the verdict on it follows again."""
    story = with_move(move)
    record = audited(tmp_path / "m.jsonl", story.write(tmp_path / "n.jsonl").read_bytes())
    assert [step.event for step in record.transitions] == [event for event, _ in story.steps]
    assert lines_of((tmp_path / "m.jsonl").read_bytes())[4]["event"]["move"] == move


def test_records_of_one_folder_do_not_mix(tmp_path: Path) -> None:
    """Two records that are written by turns are the same as when each is written alone."""
    names = ("clean", "acknowledged")
    writers = [tell(name).begin(tmp_path / f"{name}.jsonl") for name in names]
    for number in range(5):
        for writer, name in zip(writers, names, strict=True):
            writer.write_transition(*tell(name).steps[number])
    for writer, name in zip(writers, names, strict=True):
        writer.close()
        alone = cut(tell(name), 5).write(tmp_path / f"{name}5.jsonl")
        assert said(writer.path.read_bytes()) == said(alone.read_bytes())


def test_two_referees_never_write_one_record(tmp_path: Path) -> None:
    """A record that is being written is locked; one that has grown since it was read is refused."""
    path = tmp_path / "m.jsonl"
    first = tell("unfinished").begin(path)
    end = read_chain(path).end
    with pytest.raises(BlockingIOError, match="another referee writes this record"):
        RecordWriter(path, SEALER, after=end)
    event, commands = tell("unfinished").steps[0]
    first.write_transition(event, commands)
    first.close()
    with pytest.raises(BlockingIOError, match="another referee writes this record"):
        RecordWriter(path, SEALER, after=end)
    RecordWriter(path, SEALER, after=read_chain(path).end).close()
