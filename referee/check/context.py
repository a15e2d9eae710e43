"""What the steps work on: the program that is checked, its games, and what was seen of it so far."""

import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from ..programs.build import BUILDS, Builds
from ..programs.confining import Confinement
from ..programs.player_spec import Launch, PlayerError, read_folder
from ..testing.seats import AnyGame
from .findings import Failed, Skipped
from .loop import Loop
from .scripted_match import ScriptedMatch, ScriptedTerms
from .session import Session, Times

T = TypeVar("T")
_TOML = "Mend it as it says there; protocol/SPEC.md, Launched programs, has an example of a player.toml."


class CheckRequest(Struct, frozen=True, kw_only=True):
    """What is to be checked, and how."""

    player: str
    """`house:NAME`, `cmd:COMMAND` or a folder."""
    games: tuple[str, ...] = ()
    """Names of the games to check with; empty: those that the program names, or all."""
    only: tuple[str, ...] = ()
    """Steps to run, by number or name; empty: all."""
    times: Times = Times()
    logs: Path = Path("logs")
    """Folder beside whose records builds are kept."""


class CheckContext:
    """One program under check.

    Args:
        request: how it is checked.
        given: its folder, or how else it is started.
        games: all those there are, by name.
        confinement: what it is held to.
        folder: for sockets and outputs.
    """

    def __init__(
        self,
        request: CheckRequest,
        given: Path | Launch,
        games: dict[str, AnyGame],
        confinement: Confinement,
        folder: Path,
    ) -> None:
        self.times = request.times
        self.confinement = confinement
        self.builds = Builds(request.logs / BUILDS, confinement)
        self.folder = folder
        self.loop = Loop()
        self.known = games
        self.peak_bytes = 0
        """The most memory that it was seen to use."""
        self.keeps = False
        self.has_reused = False
        """Whether the last match was not the first of its program."""
        self._kept: Session | None = None
        self._only = request.games
        self._given = given
        self._seen: dict[Callable[[CheckContext], Any], Any] = {}

    # --- the program

    @property
    def player_folder(self) -> Path:
        """The program's folder.

        Raises:
            Skipped: it is given as a command.
        """
        if isinstance(self._given, Launch):
            raise Skipped("it was not given as a folder")
        return self._given

    @cached_property
    def launch(self) -> Launch:
        """How it is started.

        Raises:
            Failed: its folder does not say so.
        """
        if isinstance(self._given, Launch):
            return self._given
        with demanding("a folder with a player.toml, and no link out of it", _TOML):
            return read_folder(self._given)

    @property
    def most_matches(self) -> float:
        """How many matches one start of it can play."""
        return self.launch.matches or math.inf

    @property
    def games(self) -> tuple[AnyGame, ...]:
        """The games that it is checked with."""
        return tuple(game for name, game in self.known.items() if self.plays(name))

    @property
    def says_its_games(self) -> bool:
        """Whether the games to check are named, by it or by its author."""
        return bool(self._only or self.launch.games)

    def plays(self, name: str) -> bool:
        """Tell whether it is checked with a game."""
        return name in (self._only or self.launch.games or tuple(self.known))

    def game_called(self, name: str) -> AnyGame:
        """Return the rules of a game.

        Raises:
            Skipped: the program is not checked with it.
        """
        if not self.plays(name):
            raise Skipped(f"it does not play {name}")
        return self.known[name]

    @property
    def game(self) -> AnyGame:
        """The first of its games.

        Raises:
            Skipped: it has none.
        """
        if not self.games:
            raise Skipped("it plays none of the games there are")
        return self.games[0]

    def terms(self, **changes: Any) -> ScriptedTerms:
        """Return the terms of a match of that game, with the fewest seats.

        Args:
            changes: further terms.
        """
        return ScriptedTerms(game=self.game, **changes)

    # --- starting it

    @contextmanager
    def session(self, *, is_launched: bool = True) -> Iterator[Session]:
        """Start the program, and end it behind.

        Raises:
            Failed: it can't be started, or the step that uses it fails; with all that is known then.
        """
        session = self._begun(is_launched=is_launched)
        try:
            with _explained(session):
                yield session
        finally:
            self._end(session)

    @contextmanager
    def match(self, terms: ScriptedTerms | None = None, **changes: Any) -> Iterator[ScriptedMatch]:
        """Have the program ready for a match: the one that was kept, or a new one.

        Args:
            terms: of the match; None: those of the first game.
            changes: in those of the first game.

        Raises:
            Failed: as of session().
        """
        kept, self._kept = self._kept, None
        self.has_reused = kept is not None
        session = kept or self._begun(is_launched=True)
        try:
            with _explained(session):
                if kept is None:
                    session.greet()
                yield ScriptedMatch(session, terms or self.terms(**changes))
            if self.keeps and session.is_idle and session.matches < self.most_matches:
                self._kept = session
        finally:
            if self._kept is not session:
                self._end(session)

    def close(self) -> None:
        """End what is kept."""
        if self._kept is not None:
            self._end(self._kept)
            self._kept = None

    def _begun(self, *, is_launched: bool) -> Session:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        with demanding("a program that can be built and started", _TOML):
            self.builds.build(self.launch)
            return Session(self.launch, self.times, self.loop, self.confinement, folder, is_launched=is_launched)

    def _end(self, session: Session) -> None:
        session.close()
        self.peak_bytes = max(self.peak_bytes, session.peak_bytes)

    def seen(self, look: Callable[["CheckContext"], T]) -> T:
        """Return what a look at the program shows: several steps judge one start of it."""
        if look not in self._seen:
            self._seen[look] = look(self)
        found: T = self._seen[look]
        return found


@contextmanager
def _explained(session: Session) -> Iterator[None]:
    try:
        yield
    except Failed as failure:
        session.close()
        session.explain(failure)
        raise


@contextmanager
def demanding(expected: str, remedy: str) -> Iterator[None]:
    """Blame the program for what keeps it from being launched.

    Args:
        expected: of a program that can be.
        remedy: how to mend it.

    Raises:
        Failed: it can't be launched.
    """
    try:
        yield
    except PlayerError as error:
        raise Failed(str(error), expected, remedy) from None


Run = Callable[[CheckContext], str | None]
"""Raises Failed or Skipped, or returns what is worth a note, if anything is."""


class CheckStep(Struct, frozen=True):
    """One step of the table."""

    key: str
    title: str
    """What a program does that passes."""
    run: Run
    is_basic: bool = False
    """Whether nothing behind it makes sense if it fails."""
