"""Frames: any cut of a stream gives the same bodies, and no frame over the limit is buffered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import Code, LocalProtocolError, RemoteProtocolError
from protocol.frames import FrameReader, encode_frame

LIMIT = 300
EXAMPLES = (
    (b"a", b"\x00\x00\x00\x01a"),
    (b"\x00\x00\x00\x00", b"\x00\x00\x00\x04\x00\x00\x00\x00"),
    (b"x" * 255, b"\x00\x00\x00\xff" + b"x" * 255),
    (b"x" * 256, b"\x00\x00\x01\x00" + b"x" * 256),
    (b"x" * LIMIT, b"\x00\x00\x01\x2c" + b"x" * LIMIT),
)
TRAILING = (b"", b"\x00", b"\x00\x00\x00\x02b")


def bodies_of(reader: FrameReader, *chunks: bytes) -> list[bytes]:
    """Receive a stream, and return every complete body."""
    bodies = []
    for chunk in chunks:
        reader.receive_data(chunk)
        while (body := reader.next_frame()) is not None:
            bodies.append(body)
    return bodies


@pytest.mark.parametrize(("body", "frame"), EXAMPLES)
def test_a_body_becomes_a_frame(body: bytes, frame: bytes) -> None:
    """A frame is the body's length in four bytes, big end first, then the body."""
    assert frame == encode_frame(body, LIMIT)


@pytest.mark.parametrize(("body", "frame"), EXAMPLES)
@pytest.mark.parametrize("trailing", TRAILING)
def test_a_frame_becomes_its_body(body: bytes, frame: bytes, trailing: bytes) -> None:
    """Whole and byte by byte, with or without the beginning of the next frame."""
    whole, dripped = FrameReader(LIMIT), FrameReader(LIMIT)
    assert [body] == bodies_of(whole, frame + trailing)
    assert [body] == bodies_of(dripped, *(bytes([byte]) for byte in frame + trailing))
    assert trailing == whole.pending == dripped.pending
    assert len(trailing) == whole.pending_bytes == dripped.pending_bytes


@pytest.mark.parametrize("body", [b"", b"x" * (LIMIT + 1)])
def test_a_body_of_a_wrong_length_is_a_local_mistake(body: bytes) -> None:
    """A body that the receiver would refuse is not framed."""
    with pytest.raises(LocalProtocolError):
        encode_frame(body, LIMIT)


@pytest.mark.parametrize("length", [LIMIT + 1, 2**16, 2**24, 2**31, 2**32 - 1])
def test_an_over_long_frame_is_refused_on_its_prefix(length: int) -> None:
    """A frame over the limit is refused before its body comes; its prefix is the evidence."""
    prefix = length.to_bytes(4, "big")
    reader = FrameReader(LIMIT)
    assert bodies_of(reader, prefix[:3]) == []
    with pytest.raises(RemoteProtocolError) as caught:
        bodies_of(reader, prefix[3:])
    assert Code.OVERSIZE is caught.value.code
    assert prefix == caught.value.evidence


def test_a_good_frame_before_a_bad_one_still_counts() -> None:
    """Bodies before the bad frame have been taken."""
    reader = FrameReader(LIMIT)
    reader.receive_data(encode_frame(b"good", LIMIT) + bytes(4))
    assert reader.next_frame() == b"good"
    with pytest.raises(RemoteProtocolError) as caught:
        reader.next_frame()
    assert Code.EMPTY is caught.value.code


@given(st.lists(st.binary(min_size=1, max_size=LIMIT), max_size=5), st.lists(st.integers(1, 50)), st.binary(max_size=3))
def test_any_cut_gives_the_same_bodies(bodies: list[bytes], cuts: list[int], trailing: bytes) -> None:
    """A stream cut anywhere gives its bodies in their order."""
    stream = b"".join(encode_frame(body, LIMIT) for body in bodies) + trailing
    chunks = []
    for cut in cuts:
        chunks.append(stream[:cut])
        stream = stream[cut:]
    reader = FrameReader(LIMIT)
    assert bodies == bodies_of(reader, *chunks, stream)
    assert trailing == reader.pending
