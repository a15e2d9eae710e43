"""Finds which of two lines was changed, where the chain of a record breaks between them."""

from collections.abc import Sequence
from contextlib import suppress

from ..text import show_json
from .schema import FIRST_PREV, BadLine, PlainLine, SealLine, encode_plain, read_line, typed
from .seal import RECORD_PURPOSE, is_signed


def find_break(before: Sequence[PlainLine], data: bytes, following: bytes) -> tuple[int, str, str]:
    """Find the line that was changed, where one does not hold the hash of the line before it.

    That is the line before, unless the next line, or the seal's signature, knows this one with the right hash in it:
    then this hash alone was changed.

    Args:
        before: the lines before.
        data: the line that does not hold the hash of the last of those, without its line feed.
        following: the next line; empty if there is none.

    Returns:
        The `n` of the changed line, what should stand there, and what does.
    """
    line, prev = read_line(data), before[-1].hash if before else FIRST_PREV
    told, number = show_json(line.fields.get("prev"), 80), len(before)
    is_alone = not before
    with suppress(BadLine):
        if before and line.fields.get("kind") == "seal":
            seal, key = typed(line), str(before[0].fields.get("key"))
            is_alone = isinstance(seal, SealLine) and is_signed(key, RECORD_PURPOSE, prev, seal.signature)
        elif following:
            here = b'"prev":' + encode_plain(line.fields.get("prev"))
            restored = read_line(data.replace(here, b'"prev":' + encode_plain(prev), 1))
            is_alone = is_alone or read_line(following.removesuffix(b"\n")).fields.get("prev") == restored.hash
    if is_alone:
        return number, f"prev = {prev} (the line before)", f"prev = {told}"
    return number - 1, f"a line whose hash is {told}, as line {number} has it", f"one whose hash is {prev}"
