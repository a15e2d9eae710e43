"""The program under check, as the steps see it: how it is started, its games, and what the steps know about it."""

import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
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
_TOML = "Fix what the message names; protocol/SPEC.md, Launched programs, has an example of a player.toml."


class CheckRequest(Struct, frozen=True, kw_only=True):
    """A player to check, and how to check it."""

    player: str
    """`house:NAME`, `cmd:COMMAND` or a folder."""
    games: tuple[str, ...] = ()
    """Names of the games to check with; empty: the games in its player.toml, or all games."""
    only: tuple[str, ...] = ()
    """Steps to run, by number or name; empty: all."""
    times: Times = Times()
    logs: Path = Path("logs")
    """Folder of records; the builds are stored in a folder inside it."""


class CheckContext:
    """One program under check.

    Args:
        request: settings of the check.
        player: folder of the player, or another way to start it.
        games: name -> game, for all installed games.
        confinement: sandbox and limits of the program.
        folder: folder for sockets and outputs.
    """

    def __init__(
        self,
        request: CheckRequest,
        player: Path | Launch,
        games: Mapping[str, AnyGame],
        confinement: Confinement,
        folder: Path,
    ) -> None:
        self.times = request.times
        self.confinement = confinement
        self.builds = Builds(request.logs / BUILDS, confinement)
        self.folder = folder
        self.loop = Loop()
        self.all_games = games
        self.peak_bytes = 0
        """Largest memory that the program was seen to use, in bytes."""
        self.keeps = False
        """True once the program has played two matches in a row; from then on it is not ended between matches."""
        self.has_reused = False
        """True if the last match was played by a process that had played another match before."""
        self._kept: Session | None = None
        self._only = request.games
        self._player = player
        self._looks: dict[Callable[[CheckContext], Any], Any] = {}

    # --- the program

    @property
    def player_folder(self) -> Path:
        """The program's folder.

        Raises:
            Skipped: the program is given as a command or as a house player.
        """
        if isinstance(self._player, Launch):
            raise Skipped("it was not given as a folder")
        return self._player

    @cached_property
    def launch(self) -> Launch:
        """The program to start.

        Raises:
            Failed: the program's folder is wrong.
        """
        if isinstance(self._player, Launch):
            return self._player
        with demanding("a folder with a player.toml, and no link out of it", _TOML):
            return read_folder(self._player)

    @property
    def most_matches(self) -> float:
        """Number of matches that the program can play before it has to be started again."""
        return self.launch.matches or math.inf

    @property
    def games(self) -> tuple[AnyGame, ...]:
        """The games that the program is checked with."""
        return tuple(game for name, game in self.all_games.items() if self.plays(name))

    @property
    def says_its_games(self) -> bool:
        """Whether player.toml or the command line names the program's games."""
        return bool(self._only or self.launch.games)

    def plays(self, name: str) -> bool:
        """Return whether the program is checked with a game."""
        return name in (self._only or self.launch.games or tuple(self.all_games))

    def find_game(self, name: str) -> AnyGame:
        """Return the rules of a game.

        Raises:
            Skipped: the program is not checked with it.
        """
        if not self.plays(name):
            raise Skipped(f"it does not play {name}")
        return self.all_games[name]

    @property
    def game(self) -> AnyGame:
        """The first of the program's games.

        Raises:
            Skipped: the program has no game.
        """
        if not self.games:
            raise Skipped("it plays none of the installed games")
        return self.games[0]

    def terms(self, **changes: Any) -> ScriptedTerms:
        """Return the terms of a match of the checked game, with the fewest seats.

        Args:
            changes: terms that differ from the defaults.
        """
        return ScriptedTerms(game=self.game, **changes)

    # --- starting the program

    @contextmanager
    def session(self, *, is_launched: bool = True) -> Iterator[Session]:
        """Start the program, and end it at the end of the block.

        Raises:
            Failed: the program can't be started, or the step in the block fails. What is known about the program is
                added to the failure.
        """
        session = self._start(is_launched=is_launched)
        try:
            with _explaining(session):
                yield session
        finally:
            self._end(session)

    @contextmanager
    def match(self, terms: ScriptedTerms | None = None, **changes: Any) -> Iterator[ScriptedMatch]:
        """Get the program ready for a match: keep the process of the last match, or start a new one.

        Args:
            terms: terms of the match; None: those of the first game.
            changes: changes to the terms of the first game.

        Raises:
            Failed: as for session().
        """
        reused, self._kept = self._kept, None
        self.has_reused = reused is not None
        session = reused or self._start(is_launched=True)
        try:
            with _explaining(session):
                if reused is None:
                    session.greet()
                yield ScriptedMatch(session, terms or self.terms(**changes))
            if self.keeps and session.is_idle and session.matches < self.most_matches:
                self._kept = session
        finally:
            if self._kept is not session:
                self._end(session)

    def close(self) -> None:
        """End the program that has stayed, if any."""
        if self._kept is not None:
            self._end(self._kept)
            self._kept = None

    def _start(self, *, is_launched: bool) -> Session:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        with demanding("a program that can be built and started", _TOML):
            self.builds.build(self.launch)
            return Session(self.launch, self.times, self.loop, self.confinement, folder, is_launched=is_launched)

    def _end(self, session: Session) -> None:
        session.close()
        self.peak_bytes = max(self.peak_bytes, session.peak_bytes)

    def look(self, look: Callable[["CheckContext"], T]) -> T:
        """Return the result of a look at the program. Each look is taken once, and several steps judge its result."""
        if look not in self._looks:
            self._looks[look] = look(self)
        result: T = self._looks[look]
        return result


@contextmanager
def _explaining(session: Session) -> Iterator[None]:
    """If the block fails, end the program, so that its output is complete, and add what the session knows."""
    try:
        yield
    except Failed as failure:
        session.close()
        session.explain(failure)
        raise


@contextmanager
def demanding(expected: str, remedy: str) -> Iterator[None]:
    """Turn errors of a launch into failures of the program.

    Args:
        expected: what a program needs so that it can be launched.
        remedy: how to fix the program.

    Raises:
        Failed: the program can't be launched.
    """
    try:
        yield
    except PlayerError as error:
        raise Failed(str(error), expected, remedy) from None


Run = Callable[[CheckContext], str | None]
"""Function of a step: raises Failed or Skipped, or returns a note for the report, if there is one."""


class CheckStep(Struct, frozen=True):
    """One step of the check."""

    key: str
    title: str
    """Sentence that is true of a program that passes."""
    run: Run
    is_basic: bool = False
    """True if all later steps are skipped when this one fails."""
