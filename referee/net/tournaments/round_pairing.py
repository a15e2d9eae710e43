"""Pairs a round in a process of its own, with the built-in library or with a program of the organiser.

A large round takes seconds, during which no match could go on in this process. Run as a program, this module reads the
request from stdin, and writes the pairing to stdout.
"""

import hashlib
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import NamedTuple

import msgspec
from msgspec import Struct

from ...errors import RefereeError
from ...programs.processes import OwnProcess
from ...text import printable
from ...tournament.pairing import dutch
from ...tournament.pairing.base import MOST_PRINTED_CHARS, BadPairing, Group, RoundToPair

# --- A program of the organiser's
#
# A program such as bbpPairings pairs a round, while a thread waits for it. The program is the organiser's own and is
# trusted as the referee is, so it runs in no sandbox. But its output is checked: a mistake in it must not become a
# round of the tournament.


_GRACE_S = 1.0
_RELEASE_S = 10.0
"""Seconds that a program may take to print its release."""
_MOST_BLOCKS = 1 << 15
"""Longest file that the program may write, its output included, in blocks of the shell (512 or 1024 bytes)."""
_MOST_WORDS = 300
"""Most characters of its stderr that an error quotes."""
_NAME = re.compile(r"\{([^{}]*)\}")
_CAPPED = f'ulimit -f {_MOST_BLOCKS} && exec "$@"'


class PairingProgram(Struct, frozen=True, kw_only=True):
    """A program that pairs rounds, and how it is started."""

    words: tuple[str, ...]
    """Its command line; `{trf}` stands for the file that it reads."""
    folder: Path
    """Folder in which it runs; its path is relative to this folder."""
    lines: tuple[str, ...] = ()
    """Further lines of that file; `{NAME}` in them stands for the starting number of an entrant."""
    limit_s: float = 120.0
    """Longest time for a round, in seconds."""

    @property
    def name(self) -> str:
        """The name of its file."""
        return printable(Path(self.words[0]).name)


class PairingProgramError(RefereeError):
    """The organiser's program has not paired a round; the text says why, and what to do."""


class PairedRound(NamedTuple):
    """A round as it was paired."""

    tables: tuple[Group, ...]
    """Entrants by seat, for each table; a single one has the bye."""
    by: str
    """Name and version of the program or library that paired it."""
    output: str | None = None
    """Output of the organiser's program."""


def find_program(program: PairingProgram) -> Path:
    """Return the file of a program.

    Raises:
        PairingProgramError: the file is not there, or can't be run.
    """
    word = program.words[0]
    file = shutil.which(str(program.folder / word) if "/" in word else word)
    if file is None:
        where = f"no program {printable(str(program.folder / word))}" if "/" in word else "not on the PATH"
        raise PairingProgramError(
            f"pairing_program {printable(word)} can't be run: {where}; install it, or correct the name"
        )
    return Path(file)


def insert_numbers(line: str, numbers: Mapping[str, int]) -> str:
    """Replace each `{NAME}` in a line by the entrant's starting number, in four columns.

    Args:
        line: line of the file that the program reads.
        numbers: name of an entrant -> its starting number.

    Raises:
        PairingProgramError: no entrant has one of the names.
    """

    def _number(name: re.Match[str]) -> str:
        if name[1] not in numbers:
            raise PairingProgramError(
                f"pairing_lines: no entrant is called {name[1]}; correct the name, or leave it out"
            )
        return f"{numbers[name[1]]:4}"

    return _NAME.sub(_number, line)


class RoundByProgram:
    """One round that a program pairs: one thread waits for the program, another may end it.

    Args:
        program: program of the organiser that pairs.
        request: the round.
        title: title of the tournament.
        people: players in the file, by entrant.
    """

    def __init__(
        self, program: PairingProgram, request: RoundToPair, title: str, people: Sequence[dutch.TrfPlayer]
    ) -> None:
        self._program = program
        self._request = request
        self._title = title
        self._people = people
        self._is_ended = Event()
        self._process: OwnProcess | None = None

    def pair(self) -> PairedRound:
        """Have the program pair the round, and wait for it.

        Raises:
            PairingProgramError: it is missing, fails, takes too long, or its output is no pairing of this round.
        """
        try:
            return self._pair()
        except (PairingProgramError, BadPairing, OSError) as error:
            why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            raise PairingProgramError(
                f"round {self._request.round} is not paired by {self._program.name}: {why}\n"
                "nothing is lost: correct pairing_program in the tournament's file, or leave it out to have the round "
                "paired by the built-in library, and give the same command again"
            ) from None

    def end(self) -> None:
        """End the program at once: nobody waits for the round any more."""
        self._is_ended.set()
        if (process := self._process) is not None:
            process.ask_to_end()

    def _pair(self) -> PairedRound:
        file = find_program(self._program)
        with TemporaryDirectory(prefix="referee-pairing-") as name:
            scratch, played = Path(name), self._request.played
            trf = scratch / f"round-{self._request.round}.trf"
            heads = [("012", self._title), ("062", str(len(played.order)))]
            numbers = {self._people[entrant].name: place for place, entrant in enumerate(played.order, start=1)}
            lines = "".join(f"{insert_numbers(line, numbers)}\n" for line in self._program.lines)
            trf.write_text(dutch.trf_text(played, self._people, heads) + lines, encoding="utf-8")
            words = [word.replace(dutch.TRF, str(trf)) for word in self._program.words]
            output = self._run([str(file), *words[1:]], scratch, self._program.limit_s)
            tables = dutch.read_output(output, played)
            dutch.check_round(tables, played)
            by = f"{self._program.name} {dutch.read_release(output) or self._ask_release(file, scratch)}"
            return PairedRound(tables, printable(by), output)

    def _run(self, argv: Sequence[str], scratch: Path, limit_s: float) -> str:
        """Run the program to its end, and return what it printed.

        Raises:
            PairingProgramError: it failed, took too long, or its output is too long or no text.
        """
        printed, errors = scratch / "stdout", scratch / "stderr"
        with printed.open("wb") as output, errors.open("wb") as stderr:
            command = ["/bin/sh", "-c", _CAPPED, "sh", *argv]
            process = OwnProcess(command, output=output, errors=stderr, cwd=self._program.folder)
        self._process = process
        if self._is_ended.is_set():
            process.ask_to_end()
        status = process.wait(limit_s)
        if status is None:
            process.end(_GRACE_S)
            raise PairingProgramError(f"it took longer than {limit_s:g} s (pairing_limit)")
        with printed.open("rb") as file:
            said = file.read(MOST_PRINTED_CHARS + 1)
        if status:
            raise PairingProgramError(
                f"{_ending(status)}: {_last_words(errors) or _first_words(said) or 'it printed nothing'}"
            )
        if len(said) > MOST_PRINTED_CHARS:
            raise PairingProgramError(f"its output has more than {MOST_PRINTED_CHARS} bytes")
        try:
            return said.decode()
        except UnicodeDecodeError:
            raise PairingProgramError("its output is no text") from None

    def _ask_release(self, file: Path, scratch: Path) -> str:
        """Return the release that the program prints for `-r`, as bbpPairings and JaVaFo do.

        If it prints none, return the hash of its file, which identifies it as well.
        """
        before = self._program.words[: next(at for at, word in enumerate(self._program.words) if dutch.TRF in word)]
        words = [word for word in before[1:] if not word.startswith("--")]
        try:
            release = self._run([str(file), *words, "-r"], scratch, min(_RELEASE_S, self._program.limit_s)).strip()
        except PairingProgramError:
            release = ""
        return release.splitlines()[0].strip() if release else f"sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}"


def _ending(status: int) -> str:
    if status == -signal.SIGXFSZ:
        return "it wrote far too much"
    if status < 0:
        return f"it was ended by signal {-status}"
    return f"it ended with exit status {status}"


def _last_words(errors: Path) -> str:
    """Return the end of a program's stderr on one line."""
    with errors.open("rb") as file:
        file.seek(max(errors.stat().st_size - _MOST_WORDS, 0))
        return printable(" ".join(file.read().decode(errors="replace").split()))


def _first_words(said: bytes) -> str:
    return printable(" ".join(said[:_MOST_WORDS].decode(errors="replace").split()))


# --- The built-in library


class PairingProcess:
    """A process that pairs one round; it starts at once.

    Raises:
        OSError: it can't be started.
    """

    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # this very program
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,  # Ctrl-C at the terminal is for the referee, which ends this process itself
        )

    def pair(self, request: RoundToPair) -> tuple[tuple[Group, ...], str]:
        """Pair a round, and wait for it in a thread.

        Returns:
            As pair_round does.

        Raises:
            RefereeError: the process ended without a pairing; if it has a traceback, that is on stderr.
        """
        with self._process as process:
            written, _ = process.communicate(msgspec.json.encode(request))
        if process.returncode:
            how = f"signal {-process.returncode}" if process.returncode < 0 else f"status {process.returncode}"
            why = f"the process that was to pair round {request.round} ended with {how}"
            raise RefereeError(f"{why}; give the same command again to pair it")
        return msgspec.json.decode(written, type=tuple[tuple[Group, ...], str])

    def end(self) -> None:
        """End the process, if it has not ended."""
        self._process.kill()


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a referee that was killed reads no pairing, and needs no traceback
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=RoundToPair)
    sys.stdout.buffer.write(msgspec.json.encode(dutch.pair_round(request)))
