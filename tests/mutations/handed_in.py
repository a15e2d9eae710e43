"""Programs that authors hand in, and the files that are stored of them, with their readers."""

import gzip
import json
from contextlib import closing
from pathlib import Path
from random import Random

from referee.programs.player_spec import read_folder
from referee.web.submissions.archive import pack, unpack
from referee.web.submissions.check_queue import find_failed_steps, read_report
from referee.web.submissions.folder import gather, write
from referee.web.submissions.store import CheckOutcome, Store

from .values import mutated_text

AT = "2026-01-01T00:00:00.000+00:00"


def write_player(folder: Path) -> None:
    """Write a player's folder."""
    (folder / "main.py").write_text("print()\n")
    (folder / ".refereeignore").write_text("# what is not handed in\n*.o\nbuild/\n")
    text = 'name = "mine"\nrun = "python3 main.py --seed 1"\nbuild = "true"\ngames = ["q", "quincy"]\n'
    (folder / "player.toml").write_text(text)


def write_archive(folder: Path) -> None:
    """Pack a player's folder."""
    (folder / "player" / "data").mkdir(parents=True)
    write_player(folder / "player")
    (folder / "player" / "run").symlink_to("main.py")
    (folder / "player" / "data" / "book.bin").write_bytes(bytes(range(256)) * 5)
    (folder / "archive.tar.gz").write_bytes(pack(gather(folder / "player").entries))


def change_archive(folder: Path, random: Random) -> str:
    """Change the bytes of an archive, mostly in its headers."""
    path = folder / "archive.tar.gz"
    data = path.read_bytes()
    if random.random() < 0.2:
        path.write_bytes(mutated_text(random, data))
        return "gzip"
    plain = bytearray(gzip.decompress(data))
    for _ in range(random.choice([1, 1, 2, 5])):
        block = 512 * random.randrange(len(plain) // 512)
        at, length = random.choice(
            [(0, 100), (100, 8), (124, 12), (148, 8), (156, 1), (157, 100), (257, 8), (345, 155)]
        )
        new = random.choice(
            [b"\xff", b"\x80", b"0", b"7", b"9", b"/", b"../", b"\0", b"L", b"x", b"\xed\xa0\x80", b"\n"]
        )
        plain[block + at : block + at + length] = (new * length)[: random.randrange(length + 1)].ljust(length, b"\0")
        if random.random() < 0.8:  # the sum of the header, as a packing program makes it
            head = plain[block : block + 148] + b" " * 8 + plain[block + 156 : block + 512]
            plain[block + 148 : block + 156] = f"{sum(head):06o}\0 ".encode()
    tar = bytes(plain) if random.random() < 0.8 else mutated_text(random, bytes(plain))
    path.write_bytes(gzip.compress(tar, 1))
    return "tar"


def unpacked(folder: Path) -> None:
    """Unpack an archive, and check the player in it."""
    write(unpack((folder / "archive.tar.gz").read_bytes()), folder / "unpacked")
    read_folder(folder / "unpacked")


def write_store(folder: Path) -> None:
    """Hand a version in, and let its check pass."""
    write_archive(folder)
    with closing(Store(folder / "store")) as store:
        version, _ = store.hand_in("ann", (folder / "archive.tar.gz").read_bytes(), AT)
        report = {"passed": True, "steps": [{"step": "it starts", "verdict": "passed", "detail": "in 0.1 s"}]}
        store.conclude("ann", version.number, CheckOutcome(passed=True, report=report), AT)
        store.choose("ann", version.number)


def read_store(folder: Path) -> None:
    """Read the stored versions, and hand in one more."""
    with closing(Store(folder / "store")) as store:
        store.report("ann", 1)
        store.recover()
        store.versions("ann")
        store.present("ann")
        store.hand_in("ann", (folder / "archive.tar.gz").read_bytes(), AT)


def write_check(folder: Path) -> None:
    """Write what a check printed."""
    report = {"passed": False, "steps": [{"step": "it starts", "verdict": "failed", "detail": f"{folder}/player"}, {}]}
    (folder / "out").write_text(f"checking\n{json.dumps(report)}\n")


def read_check(folder: Path) -> None:
    """Read a check's report."""
    find_failed_steps(read_report(folder) or {})
