"""Reads who takes part in a tournament from its file.

What the organiser lists must be right. In a folder of handed-in programs a broken one is left out with a warning: it
must not keep all others from playing.
"""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from protocol.limits import MAX_NAME_CHARS, NAME_FORM, NAME_PATTERN

from ...net.links.tokens import BadTokens, read_tokens
from ...plugins import Registry
from ...programs.player_spec import Launch, PlayerError
from ...text import near
from ...tournament.spec import REMOTE, Participant
from ...type_words import show_value
from ..players import distinct, find_folder, find_player
from .sheet import Section

NAME = Annotated[str, Meta(pattern=NAME_PATTERN, extra={"words": NAME_FORM})]
TEXT = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)", extra={"words": "a text of one line"})]
RATING = Annotated[float, Meta(ge=-1e9, le=1e9, extra={"words": "a number"})]
_LIST = Annotated[list[str | dict[str, Any]], Meta(extra={"words": "players as texts, or tables: [[entrants]]"})]
_FORMS = 'a player is "house:NAME", "cmd:COMMAND", a folder with player.toml, or "remote"'
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


class Candidate(Struct, frozen=True, kw_only=True):
    """An entrant before all names differ."""

    name: str
    """Name in the file, or else the text that its name is made from."""
    is_named: bool
    """True if the file gives the name: such a name stays as it is."""
    player: str
    rating: float | None = None


class Entrants(Struct, frozen=True, kw_only=True):
    """All entrants of a file."""

    participants: tuple[Participant, ...]
    """Entrants without a mistake."""
    count: int
    """Number of entrants, including those with a mistake."""
    remotes: tuple[str, ...]
    """Names of remote entrants, including those without a token."""
    tokens: dict[str, str]
    """Remote entrant -> SHA-256 of its token, in hex."""
    left_out: tuple[str, ...]
    """Folders of programs that can't take part as they are, as a spec has them."""
    made_from: tuple[str | None, ...]
    """Text that each valid entrant's name was made from, by entrant; None if the file gives the name."""
    folder: Path | None
    """The folder of player folders; None: the file names none."""


class EntrantsReader:
    """Reads the entrants of one file.

    Args:
        top: the whole file.
        remote: the file's table [remote].
        game: game that is played; None if it is not known.
        registry: the plugins.
        made_later: folder of entrants that may be missing for now; None if no folder may be missing.
    """

    def __init__(
        self, top: Section, remote: Section, game: str | None, registry: Registry, made_later: Path | None
    ) -> None:
        self._top = top
        self._sheet = top.sheet
        self._base = top.sheet.path.parent
        self._game = game
        self._registry = registry
        self._made_later = made_later
        self._names: dict[str, int] = {}
        """Name that the file gives -> its line."""
        self._owners: dict[str, str] = {}
        """Hash of a token -> name of its entrant."""
        self._file: Path | None = None
        self._hashes = self._read_hashes(remote)
        self._tokens: dict[str, str] = {}
        self._remotes: list[str] = []
        self._left_out: list[str] = []
        self._folder: Path | None = None

    def read(self) -> Entrants:
        """Return all entrants: first the listed ones, then those of the folder, in the order of their names."""
        listed = self._top.take("entrants", _LIST, [])
        listed_candidates = [self._read_entrant(index, value) for index, value in enumerate(listed)]
        gathered = self._read_folder([candidate for candidate in listed_candidates if candidate is not None])
        if self._top.values.get("entrants", []) == [] and "entrants_from" not in self._top:
            remedy = 'entrants = ["house:greedy", "mine"], or entrants_from = "submissions"'
            self._sheet.refuse(("entrants",), f"entrants: nobody takes part; {remedy}")
        candidates = [*(candidate for candidate in listed_candidates if candidate is not None), *gathered]
        given = [place for place, candidate in enumerate(candidates) if candidate.is_named]
        names = distinct([candidate.name for candidate in candidates], given)
        participants = (
            Participant(name=name, player=candidate.player, rating=candidate.rating)
            for name, candidate in zip(names, candidates, strict=True)
        )
        return Entrants(
            participants=tuple(participants),
            count=len(listed_candidates) + len(gathered),
            remotes=tuple(self._remotes),
            tokens=self._tokens,
            left_out=tuple(self._left_out),
            made_from=tuple(None if candidate.is_named else candidate.name for candidate in candidates),
            folder=self._folder,
        )

    def _read_entrant(self, index: int, value: str | dict[str, Any]) -> Candidate | None:
        """Return an entrant of the list; None if something is wrong with it, which is noted."""
        table = {"player": value} if isinstance(value, str) else value
        section = self._sheet.section(table, ("entrants", index), "under [[entrants]]")
        name = self._read_name(section)
        rating = section.take("rating", RATING)
        token = section.take("token", NAME, name)
        player = section.take("player", TEXT)
        if "player" not in section:
            section.refuse("player", f"this key is missing; {_FORMS}")
        if player is None:
            return None
        try:
            player, known_as = self._resolve(player)
        except (PlayerError, OSError) as error:
            section.refuse("player", str(error))
            return None
        if player == REMOTE:
            return self._remote(section, name, token, rating)
        if "token" in section:
            section.refuse("token", 'only remote entrants have one: player = "remote"')
        if name is None and "name" in section:
            return None
        if name is None and not re.match(NAME_PATTERN, known_as):
            remedy = 'give the entrant one: name = "..."'
            why = f"{show_value(known_as)} is no name of {NAME_FORM}" if known_as else "a command has no name"
            section.refuse("player", f"{why}; {remedy}")
            return None
        return Candidate(name=name or known_as, is_named=name is not None, player=player, rating=rating)

    def _read_name(self, section: Section) -> str | None:
        """Return the name that the file gives an entrant; a name that another entrant has is noted as a mistake."""
        name: str | None = section.take("name", NAME)
        if name in self._names:
            section.refuse("name", f"{show_value(name)} is also the name of the entrant in line {self._names[name]}")
        elif name is not None:
            self._names[name] = self._sheet.line((*section.where, "name"))
        return name

    def _resolve(self, player: str) -> tuple[str, str]:
        """Return a player as a spec has it, and the name that it gives itself; empty if it gives none.

        Raises:
            PlayerError: it is no player, or does not play the game.
        """
        if player == REMOTE:
            return REMOTE, ""
        folder = find_folder(player)
        launch = self._find_launch(player)
        if folder is None:
            return player, launch.name
        return str((self._base / folder).resolve()), launch.name

    def _find_launch(self, player: str) -> Launch:
        """Return how a player is started; a command's name is empty.

        Raises:
            PlayerError: it is no player, can't be played with, or does not play the game.
        """
        try:
            # # Such a path can't be written into the record: the tournament would stop at its start.
            str((self._base / player).resolve()).encode()
        except UnicodeEncodeError:
            raise PlayerError(f"{self._base / player}: its path is not UTF-8; rename the folder") from None
        return find_player(player, self._game, name="", base=self._base, known=self._registry)

    def _read_hashes(self, remote: Section) -> dict[str, str]:
        """Return the tokens' hashes by name, from the file that [remote] names; empty if it names none."""
        text = remote.take("tokens", TEXT)
        if text is None:
            return {}
        self._file = self._base / text
        try:
            return read_tokens(self._file)
        except BadTokens as error:
            remote.refuse("tokens", str(error))
            return {}

    def _remote(self, section: Section, name: str | None, token: str | None, rating: float | None) -> Candidate | None:
        """Return a remote entrant; None if no token identifies it, which is noted."""
        if name is None:
            if "name" not in section:
                section.refuse("player", 'a remote entrant needs a name: name = "..."')
            return None
        self._remotes.append(name)
        if token not in self._hashes:
            section.refuse("token" if "token" in section else "player", self._no_token(str(token)))
            return None
        token_hash = self._hashes[token]
        # With one token for two entrants, either of them could take the seat of the other.
        if self._owners.setdefault(token_hash, name) != name:
            section.refuse("name", f"{self._owners[token_hash]} has the same token; each entrant needs its own")
            return None
        self._tokens[name] = token_hash
        return Candidate(name=name, is_named=True, player=REMOTE, rating=rating)

    def _no_token(self, name: str) -> str:
        """Return why no token identifies a remote entrant, and what to do."""
        if self._file is None:
            remedy = f"`referee token {name} --file players.toml` makes one"
            return f'{name} is remote and has no token; {remedy}; then, under [remote]: tokens = "players.toml"'
        remedy = f"`referee token {name} --file {self._file}` makes one"
        return f"{name} has no token in {self._file}; {remedy}{near(name, self._hashes)}"

    def _read_folder(self, listed: Sequence[Candidate]) -> list[Candidate]:
        """Return the entrants of the folder of player folders, without those that the file also lists."""
        text = self._top.take("entrants_from", TEXT)
        if text is None:
            return []
        folder = self._folder = self._base / text
        try:
            within = () if self._is_to_come(folder) else folder.iterdir()
            inner = sorted(path for path in within if path.is_dir() and not path.name.startswith("."))
        except (OSError, ValueError) as error:
            self._top.refuse("entrants_from", f"{text}: {getattr(error, 'strerror', error)}")
            return []
        listed_players = {candidate.player for candidate in listed}
        new = (self._read_player_folder(path) for path in inner if str(path.resolve()) not in listed_players)
        candidates = [candidate for candidate in new if candidate is not None]
        if not candidates and not listed:
            hint = "it is a player's folder itself: list it under entrants" if (folder / "player.toml").exists() else ""
            remedy = hint or "it needs a folder with a player.toml for each entrant"
            self._top.refuse("entrants_from", f"nobody in {text} can take part; {remedy}")
        return candidates

    def _is_to_come(self, folder: Path) -> bool:
        later = self._made_later
        return later is not None and not folder.exists() and folder.resolve() == later.resolve()

    def _read_player_folder(self, folder: Path) -> Candidate | None:
        """Return an entrant of the folder of player folders; None if it can't take part, which is noted."""
        try:
            self._find_launch(str(folder))
        except (PlayerError, OSError) as error:
            self._sheet.warn(f"{folder.name} is left out: {error}")
            # An entrant of a tournament that has begun stays in the field even if its folder is broken now. The list
            # shows which of the missing entrants are only broken.
            self._left_out.append(str(folder.resolve()))
            return None
        return Candidate(name=_legal(folder.name), is_named=False, player=str(folder.resolve()))


def _legal(name: str) -> str:
    """Return the valid player name that is most similar to a given name."""
    # # NFKD separates accents from their letters, so that Zoë becomes Zoe and not Zo.
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _OTHER.sub("", plain).lstrip("_-")[:MAX_NAME_CHARS] or "player"
