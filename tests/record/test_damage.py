"""Random damage to the bytes and lines of real records, with the old chain, is always found."""

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from referee.record.reader import RecordError

from .forging import audited, is_accepted
from .records import record_of

NAMES = ("clean", "late move", "bad frame", "lost at the end, acknowledged", "void", "dealt", "duplicate deal")
names = st.sampled_from(NAMES)
places = st.floats(0, 1, exclude_max=True)
"""A place in a record, as a share of its length."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file that holds one damaged record after the other."""
    return tmp_path_factory.mktemp("damage") / "m"


def at(place: float, length: int) -> int:
    """Return the index of a place."""
    return int(place * length)


def is_found(path: Path, name: str, damaged: bytes) -> bool:
    """Return whether a damaged record is refused."""
    assume(damaged != record_of(name))
    return not is_accepted(path, damaged)


@settings(max_examples=150)
@given(names, st.lists(st.tuples(places, st.integers(1, 255)), min_size=1, max_size=3))
def test_flipped_bits_are_found(path: Path, name: str, flips: list[tuple[float, int]]) -> None:
    """One or several changed bytes are found, anywhere."""
    damaged = bytearray(record_of(name))
    for place, mask in flips:
        damaged[at(place, len(damaged))] ^= mask
    assert is_found(path, name, bytes(damaged))


@settings(max_examples=150)
@given(names, places, st.integers(0, 300), st.binary(max_size=40))
def test_bytes_left_out_and_put_in_are_found(path: Path, name: str, place: float, length: int, new: bytes) -> None:
    """A piece that is missing, added or changed is found, anywhere."""
    data = record_of(name)
    begin = at(place, len(data))
    assert is_found(path, name, data[:begin] + new + data[begin + length :])


@settings(max_examples=80)
@given(names, places)
def test_a_cut_is_found(path: Path, name: str, place: float) -> None:
    """Wherever a record is cut off, it does not pass for a whole one."""
    data = record_of(name)
    assert is_found(path, name, data[: at(place, len(data))])


@settings(max_examples=80)
@given(names, st.binary(min_size=1, max_size=40))
def test_what_is_appended_is_found(path: Path, name: str, more: bytes) -> None:
    """Nothing may follow the seal."""
    assert not is_accepted(path, record_of(name) + more)


@settings(max_examples=80)
@given(names, places, places, st.sampled_from(["delete", "double", "swap", "move", "replace"]))
def test_lines_out_of_place_are_found(path: Path, name: str, from_: float, to: float, how: str) -> None:
    """A line that is missing, doubled, swapped, moved, or overwritten by another is found."""
    lines = record_of(name).splitlines(keepends=True)
    one, two = at(from_, len(lines)), at(to, len(lines))
    line = lines[one]
    if how == "swap":
        lines[one], lines[two] = lines[two], line
    elif how == "replace":
        lines[two] = line
    else:
        if how != "double":
            del lines[one]
        if how != "delete":
            lines.insert(two, line)
    assert is_found(path, name, b"".join(lines))


@settings(max_examples=80)
@given(names, names, places)
def test_lines_of_another_record_are_found(path: Path, name: str, other: str, place: float) -> None:
    """A line from the same place of another match does not belong to this one."""
    lines, foreign = (record_of(each).splitlines(keepends=True) for each in (name, other))
    number = at(place, min(len(lines), len(foreign)) - 1)
    assume(lines[number] != foreign[number])
    lines[number] = foreign[number]
    assert is_found(path, name, b"".join(lines))


@settings(max_examples=150)
@given(names, places, st.integers(1, 255))
def test_a_flipped_bit_in_the_seal_is_found(path: Path, name: str, place: float, mask: int) -> None:
    """There is no hash of the last line, but it has only one form and one signature."""
    damaged = bytearray(record_of(name))
    begin = damaged.rindex(b"\n", 0, -1) + 1
    damaged[begin + at(place, len(damaged) - begin)] ^= mask
    assert is_found(path, name, bytes(damaged))


@settings(max_examples=80)
@given(names, places)
def test_a_cut_of_a_record_without_a_seal_gives_a_part_of_it(path: Path, name: str, place: float) -> None:
    """An audit that is not strict accepts such a record only as an unfinished one."""
    data = record_of(name)
    part = data[: at(place, len(data))]
    try:
        record = audited(path, part, is_strict=False)
    except RecordError:
        return
    assert (record.state, record.is_torn) == ("unfinished", not part.endswith(b"\n"))
    assert record.chain.size_bytes + len(record.chain.rest) == len(part)
