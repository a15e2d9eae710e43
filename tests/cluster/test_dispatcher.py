"""Messages of hosts and scheduler that the dispatcher passes on, and their limits."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from referee.cluster import dispatcher, messages
from referee.cluster.dispatcher import Dispatcher
from referee.cluster.messages import REPORTS, Ask, Drop, HostLines, KnownHosts
from referee.net.jobs.messages import Frames, pack_frame


class Written:
    """Stand-in for the connection to the coordinator."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        """Keep it."""
        self.data += data


@pytest.mark.parametrize(("size", "is_handed_on"), [(900, True), (1100, False)])
def test_hosts_tell_so_much_at_once(
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    is_handed_on: bool,  # noqa: FBT001  # of a table
) -> None:
    """A longer message is not passed on."""
    monkeypatch.setattr(messages, "MAX_LINES_BYTES", 1000)
    told = HostLines(host="a", match="m", offset=0, lines=b"x" * size)
    written: Any = Written()
    Dispatcher(None, written).forward_lines((0, msgspec.to_builtins(told, builtin_types=(bytes,))))
    assert Frames(REPORTS).add(written.data) == [(told,)] * is_handed_on


@pytest.mark.parametrize(
    ("name", "is_seen"),
    [("lab1-0a1b2c", True), ("lab_1.example.org-0a1b2c", True), ("../a", False), ("", False), ("a" * 101, False)],
)
def test_names_of_hosts_name_files(name: str, is_seen: bool) -> None:  # noqa: FBT001  # of a table
    """A host with any other name was not started by this program."""
    seen = dispatcher.parse_host("tls://h:1", {"name": name, "resources": {"tables": 2}})
    assert (seen is not None) is is_seen


def test_what_is_dropped_is_released() -> None:
    """Dask then removes a dropped call that still waits at its host, and no answer is reported."""
    released: list[str] = []

    class _Waiting(asyncio.Future[bytes]):
        def release(self) -> None:
            released.append("match")

    async def _dropped() -> bytes:
        written, client = Written(), SimpleNamespace(submit=lambda *_, **__: _Waiting())
        dispatcher = Dispatcher(client, cast("Any", written))
        dispatcher.take(Ask(number=7, host="tls://h:1", call="play", data=b""))
        await asyncio.sleep(0)
        dispatcher.take(Drop(number=7))
        dispatcher.take(Drop(number=7))
        await asyncio.sleep(0)
        return written.data

    assert (asyncio.run(_dropped()), released) == (b"", ["match"])


def test_no_frame_is_longer_than_expected() -> None:
    """A frame is refused as soon as its announced length is known."""
    frame = pack_frame((KnownHosts(hosts=()),))
    assert Frames(REPORTS, len(frame)).add(frame) == [(KnownHosts(hosts=()),)]
    with pytest.raises(msgspec.DecodeError, match="a frame has 4294967295 bytes; the limit is 10"):
        Frames(REPORTS, 10).add(b"\xff\xff\xff\xff")
