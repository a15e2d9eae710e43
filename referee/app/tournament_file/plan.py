"""Reads the TOML file of a tournament: which tournament is played, and how it is run.

Every mistake in the file is found in one pass, and reported with its line and its remedy. Paths in the file are
relative to the folder of the file.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from ... import chance
from ...errors import BadRequest
from ...games.base import BadSetup, Game, seats_text
from ...match.setup import Margin
from ...net.links.addresses import EndpointError, check
from ...net.tournaments.play import DEFAULT_LISTEN, RunSettings
from ...plugins import Registry
from ...settings import MatchChoices, RunTerms
from ...text import counted, nearest
from ...tournament.pairing.base import BadFormat, Entrant, EntrantField, Extent, PairingFormat
from ...tournament.points import BadScoring, Scoring
from ...tournament.spec import DEFAULT_KEEP_FOR, MAX_KEEP_FOR, REMOTE, TournamentSpec
from ...tournament.standings import DEFAULT, DEFAULT_SWISS
from ...tournament.tie_breaks import TIE_BREAKS
from ...type_words import TABLE, describe_type, explain_mismatch, show_value, unfit
from .entrants import TEXT, Entrants, EntrantsReader
from .sheet import BadToml, Section, Sheet, read_toml


def check_options(section: Section, options_type: type[Struct], options: Mapping[str, Any]) -> bool:
    """Note the mistakes in options, and return whether there are none.

    Args:
        section: the section of the file, whose known keys this adds to.
        options_type: class of the options.
        options: name -> value; None stands for an unreadable one.
    """
    before = len(section.sheet.mistakes)
    fields = {field.encode_name: field for field in msgspec.structs.fields(options_type)}
    section.known += [name for name in fields if name not in section.known]
    for key, value in options.items():
        if key in fields and value is not None:
            try:
                msgspec.convert(value, fields[key].type, strict=True)
            except msgspec.ValidationError as error:
                if isinstance(value, dict) and TABLE in describe_type(fields[key].type):  # the error names its place
                    section.refuse(key, explain_mismatch(error))
                    continue
                section.refuse(
                    key, f"takes {describe_type(fields[key].type)}, not {show_value(unfit(value, fields[key].type))}"
                )
    return len(section.sheet.mistakes) == before and options.keys() <= fields.keys()


_OPPONENT_TIE_BREAKS = ("buchholz", "buchholz-cut-1", "median-buchholz")
_LAUNCH_KEYS = (("sandbox",), ("programs",), ("keep_for",), ("limits", "memory_mib"))


def warn_of_idle(sheet: Sheet, folder: Path, form: PairingFormat[Any] | None, spec: TournamentSpec) -> None:
    """Warn of keys that change nothing in this tournament, and of a folder that records can't be written to.

    Args:
        sheet: the file, without a mistake.
        folder: folder of the records.
        form: pairing format; None if it is not known.
        spec: settings in the file.
    """
    # A key without effect is only a warning: the file can be played. But the organiser probably expects an effect, and
    # would notice too late that there is none.
    idle = [*_idle_by_entrants(sheet, spec), *([] if form is None else _idle_by_format(sheet, form, spec))]
    for key, reason in idle:
        sheet.warn(f"{key} has no effect: {reason}")
    there = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    if not os.access(there, os.W_OK | os.X_OK):
        sheet.warn(f"records can't be written: you may not write into {there}; name another folder as logs")


def _idle_by_entrants(sheet: Sheet, spec: TournamentSpec) -> Iterator[tuple[str, str]]:
    """Yield keys that are for other entrants than this tournament has, each with the reason."""
    are_remote = [entrant.player == REMOTE for entrant in spec.entrants]
    if not any(are_remote):
        for key in sheet.values.get("remote", {}):
            yield f"remote.{key}", "no entrant is remote"
    elif all(are_remote):
        for place in _LAUNCH_KEYS:
            if _is_set(sheet, place):
                yield ".".join(place), "all entrants are remote, so no program is started here"


def _idle_by_format(sheet: Sheet, form: PairingFormat[Any], spec: TournamentSpec) -> Iterator[tuple[str, str]]:
    """Yield keys that the format does not ask about, each with the reason."""
    if not form.gives_late_byes and _is_set(sheet, ("scoring", "late_bye")):
        yield "scoring.late_bye", f"in the format {form.name}, nobody gets a bye for coming late"
    if not form.gives_byes and _is_set(sheet, ("scoring", "bye")):
        yield "scoring.bye", f"in the format {form.name}, nobody gets a bye"
    if not form.asks_ratings and any(entrant.rating is not None for entrant in spec.entrants):
        yield "entrants.rating", f"the format {form.name} does not seed by rating"
    field = spec.field()
    if len(field.entrants) < field.seats:  # in a contest, authors may hand in their programs later
        return
    for key, reason in form.idle_options(spec.format_options, field):
        yield f"format.{key}", reason
    if form.meets_everybody(form.parse_options(spec.format_options), field):
        for name in spec.tie_breaks:
            if name in _OPPONENT_TIE_BREAKS:
                yield f"{name} in tie_breaks", "everybody meets everybody, so it is equal for all who are tied"


def _is_set(sheet: Sheet, place: tuple[str, ...]) -> bool:
    """Return whether the file sets a key."""
    values: Any = sheet.values
    for key in place[:-1]:
        values = values.get(key, {})
    return place[-1] in values


NAME = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$(?!\n)",
        extra={"words": "a letter or digit, then up to 39 letters, digits, dots, hyphens or underscores"},
    ),
]
_SEATS = Annotated[int, Meta(ge=2, le=12)]
_COUNT = Annotated[int, Meta(ge=0)]
_KEEP_FOR = Annotated[int, Meta(ge=1, le=MAX_KEEP_FOR)]
_NAMES = Annotated[list[str], Meta(extra={"words": "a list of names: [...]"})]
_ROWS = Annotated[list[Any], Meta(extra={"words": "a list of rows, from first place to last: [[10, 6, 3, 1]]"})]
_SHARE = Annotated[float, Meta(ge=0, le=1, extra={"words": "a share of a first place, from 0 to 1"})]
_TOML_PATH = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f]+$(?!\n)", extra={"words": "the path of a TOML file"})]
Teams = tuple[tuple[int, ...], ...]
_PROGRAMS = ("anew", "kept")
_ILLEGAL = re.compile(r"[^A-Za-z0-9._-]+")


class TournamentPlan(Struct, frozen=True, kw_only=True):
    """The settings of a file."""

    path: Path
    spec: TournamentSpec
    terms: RunTerms
    choices: MatchChoices
    run_settings: RunSettings
    extent: Extent | None
    """Number of pairings; None: the format can't tell."""
    warnings: tuple[str, ...] = ()
    """Warnings, each one line, such as a program that is left out."""
    left_out: tuple[str, ...] = ()
    """Folders of the programs that are left out."""
    made_from: tuple[str | None, ...] = ()
    """Text that each entrant's name was made from, by entrant; None if the file gives the name."""
    read_from: tuple[Path, ...] = ()
    """The file, and the folder of entrants that it names: the plan stays the same as long as neither changes."""


def read_tournament(path: Path, registry: Registry, made_later: Path | None = None) -> TournamentPlan:
    """Read the file of a tournament.

    Args:
        path: path of the file.
        registry: the plugins.
        made_later: folder of entrants that may be missing for now; None if no folder may be missing.

    Raises:
        BadTournamentFile: it can't be played; the error lists everything to fix.
    """
    return _File(Sheet(path.absolute()), registry, made_later).plan()


class _File:
    """One file while it is read."""

    def __init__(self, sheet: Sheet, registry: Registry, made_later: Path | None) -> None:
        self._sheet = sheet
        self._registry = registry
        self._made_later = made_later
        self._top = sheet.section(_expand_format(sheet.values))
        self._base = sheet.path.parent

    def plan(self) -> TournamentPlan:
        """Return what the file says.

        Raises:
            BadTournamentFile: something is wrong with it.
        """
        top, remote = self._top, self._top.table("remote", "under [remote]")
        name = self._name()
        game = self._registry.games.get(top.choose("game", self._registry.games, what="game") or "")
        seats = self._seats(game)
        options = self._options(game)
        entrants = EntrantsReader(top, remote, game.name if game else None, self._registry, self._made_later).read()
        format_, format_options, extent = self._format(seats, entrants)
        teams = _teams(game, options, seats)
        choices, programs = self._choices(), self._programs()
        keep_for: int = top.take("keep_for", _KEEP_FOR, DEFAULT_KEEP_FOR)
        terms = self._terms(keep_for if programs == "kept" else None)
        spec = TournamentSpec(
            name=name,
            game=game.name if game else "",
            options=options,
            entrants=entrants.participants,
            seats=seats,
            format=format_.name if format_ else "",
            format_options=format_options,
            duplicate=self._duplicate(entrants, teams),
            scoring=self._scoring(seats, teams),
            tie_breaks=self._tie_breaks(format_),
            time=choices.time(),
            lag_margin_ms=choices.lag_margin_ms,
            acknowledge=choices.acknowledge,
            seed=choices.seed,
            durability=terms.durability,
            memory_mib=terms.memory_mib,
            programs=programs,
            keep_for=keep_for,
            suspend_after=top.take("suspend_after", _COUNT, 3),
        )
        run_settings = self._run_settings(remote, self._folder(name), entrants.tokens)
        self._sheet.finish()
        warn_of_idle(self._sheet, run_settings.folder, format_, spec)
        return TournamentPlan(
            path=self._sheet.path,
            spec=spec,
            terms=terms,
            choices=choices,
            run_settings=run_settings,
            extent=extent,
            warnings=tuple(self._sheet.warnings),
            left_out=entrants.left_out,
            made_from=entrants.made_from,
            read_from=(self._sheet.path, *([] if entrants.folder is None else [entrants.folder])),
        )

    def _name(self) -> str:
        stem = _ILLEGAL.sub("-", self._sheet.path.stem).strip(".-_")[:40]
        if not stem and "name" not in self._top:
            why = "this key is missing, and the name of the file can't replace it"
            self._top.refuse("name", f"{why}; it takes {describe_type(NAME)}")
        name: str = self._top.take("name", NAME, stem)
        return name

    def _seats(self, game: Game[Any, Any, Any] | None) -> int:
        """Return how many seats a match has; a number that does not fit the game is noted as a mistake."""
        seats: int = self._top.take("seats", _SEATS, game.seats[0] if game else 2)
        if game and seats not in game.seats:
            self._top.refuse("seats", f"{game.name} is played by {seats_text(game.seats)}, not by {seats}")
            return game.seats[0]
        return seats

    def _options(self, game: Game[Any, Any, Any] | None) -> dict[str, Any]:
        """Return the options of the game; the content of files takes the place of their names."""
        if game is None:
            self._top.known.append("options")
            return {}
        section = self._top.table("options", "under [options]")
        options, is_fine = dict(section.values), True
        for key in game.file_options & options.keys():
            options[key] = self._file_option(section, key)
            is_fine = is_fine and options[key] is not None
        if check_options(section, game.options_type, options) and is_fine:
            try:
                game.parse_options(options)
            except BadSetup as error:
                self._sheet.refuse(section.where, str(error))
        return options

    def _file_option(self, section: Section, key: str) -> dict[str, Any] | None:
        """Return the content of the TOML file that an option names; None if it can't be read, which is noted."""
        text = section.take(key, _TOML_PATH)
        if text is None:
            return None
        try:
            return read_toml(self._base / text)[0]
        except BadToml as error:
            at = f", line {error.line}" if error.line else ""
            section.refuse(key, f"{text}{at}: {error}")
            return None

    def _format(
        self, seats: int, entrants: Entrants
    ) -> tuple[PairingFormat[Any] | None, dict[str, Any], Extent | None]:
        """Return the format, its options, and its number of pairings; what does not fit the format is noted."""
        section = self._top.table("format", "under [format]")
        name = section.choose("name", self._registry.formats, what="format")
        if name is None:
            section.known += section.values
            return None, {}, None
        form = self._registry.formats[name]
        options = {key: value for key, value in section.values.items() if key != "name"}
        is_field = self._is_field(form, seats, entrants)
        if not check_options(section, form.options_type, options) or not is_field:
            return form, options, None
        # The format is tried with as many entrants as the file lists, those with a mistake included. Otherwise one
        # mistake of an entrant could bring a second one, about a field that is too small.
        field = EntrantField(entrants=tuple(Entrant(name=str(number)) for number in range(entrants.count)), seats=seats)
        try:
            parsed = form.parse_options(options)
            form.new(parsed, field, chance.Dealer(bytes(chance.SEED_BYTES)))
        except BadFormat as error:
            self._sheet.refuse(section.where, str(error))
            return form, options, None
        return form, options, form.extent(parsed, field)

    def _is_field(self, form: PairingFormat[Any], seats: int, entrants: Entrants) -> bool:
        """Return whether the entrants and the number of seats suit the format; if not, note why."""
        if seats not in form.seats:
            key = "seats" if "seats" in self._top else "format"
            self._top.refuse(key, f"{form.name} is for matches of {seats_text(form.seats)}, not of {seats}")
        if entrants.count and entrants.count < seats:
            key = "entrants" if "entrants" in self._top else "entrants_from"
            self._top.refuse(key, f"{counted(entrants.count, 'is', 'are')} too few: a match has {seats} seats")
        return seats in form.seats and entrants.count >= seats

    def _choices(self) -> MatchChoices:
        section = self._top.table("time", "under [time]")
        choices = MatchChoices(**self._top.read(MatchChoices), **section.read(MatchChoices))
        if choices.increment_s and "bank" not in section:
            section.refuse("increment", "it is added to a bank, but there is none; write bank = SECONDS, too")
        return choices

    def _scoring(self, seats: int, teams: Teams) -> Scoring:
        section = self._top.table("scoring", "under [scoring]")
        rows = [self._row(index, row) for index, row in enumerate(section.take("by_rank", _ROWS, []))]
        right = tuple(row for row in rows if row is not None)
        bye, late_bye = section.take("bye", _SHARE), section.take("late_bye", _SHARE, Scoring().late_bye)
        scoring = Scoring(bye=bye, late_bye=late_bye, default_margin=section.take("default_margin", Margin, 0))
        try:
            scoring = replace(scoring, by_rank=right, teams=teams)
        except BadScoring as error:
            section.refuse("by_rank", _plain(error))
        sides, noun = (len(teams), "teams") if teams else (seats, "seats")
        if right and all(len(row) != sides for row in right):
            rest = f"a match of {sides} {noun} is worth the share of opponents beaten"
            self._sheet.warn(f"scoring.by_rank has no row of {sides} numbers, so {rest}")
        return scoring

    def _row(self, index: int, value: Any) -> tuple[float, ...] | None:
        """Return one row of points; None if it makes no sense, which is noted on its own line."""
        where = ("scoring", "by_rank", index)
        try:
            row: tuple[float, ...] = msgspec.convert(value, tuple[float, ...], strict=True)
            Scoring(by_rank=(row,))
        except BadScoring as error:
            self._sheet.refuse(where, f"scoring.by_rank: {_plain(error)}")
            return None
        except msgspec.ValidationError:
            self._sheet.refuse(where, "scoring.by_rank: a row takes points from first place to last: [10, 6, 3, 1]")
            return None
        return row

    def _tie_breaks(self, form: PairingFormat[Any] | None) -> tuple[str, ...]:
        default = DEFAULT_SWISS if form and form.name == "swiss" else DEFAULT
        names = self._top.take("tie_breaks", _NAMES, list(default))
        for index, name in enumerate(names):
            where = ("tie_breaks", index)
            if name not in TIE_BREAKS:
                self._sheet.refuse(
                    where, f"tie_breaks: there is no tie-break {show_value(name)}{nearest(name, TIE_BREAKS)}"
                )
            elif name in names[:index]:
                self._sheet.refuse(where, f"tie_breaks: {name} is in the list twice; the second one decides nothing")
        return tuple(names)

    def _duplicate(self, entrants: Entrants, teams: Teams) -> bool:
        """Return whether deals are played from every seat; refuse that for programs that could know a deal beforehand.

        It is also refused for teams that would not stay the same when every player moves up by one seat.
        """
        is_duplicate: bool = self._top.take("duplicate", bool, default=False)
        if is_duplicate and entrants.remotes:
            remote_names = ", ".join(entrants.remotes)
            why = f"{remote_names} would know each deal from its first leg, being remote"
            self._top.refuse("duplicate", f"{why}; let their programs be started here, or take duplicate = false")
        if is_duplicate and not _stay_together(teams):
            self._top.refuse("duplicate", "partners would change from leg to leg; take duplicate = false")
        return is_duplicate

    def _programs(self) -> Literal["anew", "kept"]:
        """Return whether programs stay from match to match."""
        is_kept = self._top.choose("programs", _PROGRAMS, "anew", what="kind of programs") == "kept"
        if not is_kept and "keep_for" in self._top:
            self._top.refuse("keep_for", 'it needs programs = "kept"; without it, programs are started for every match')
        return "kept" if is_kept else "anew"

    def _terms(self, keep_for: int | None) -> RunTerms:
        limits = self._top.table("limits", "under [limits]")
        return RunTerms(**self._top.read(RunTerms), **limits.read(RunTerms), keep_for=keep_for)

    def _run_settings(self, remote: Section, folder: Path, tokens: Mapping[str, str]) -> RunSettings:
        return RunSettings(
            **self._top.read(RunSettings),
            **remote.read(RunSettings),
            folder=folder,
            listen=self._listen(remote),
            tokens=tokens,
        )

    def _listen(self, remote: Section) -> str:
        listen: str = remote.take("listen", TEXT, DEFAULT_LISTEN)
        if "listen" in remote:
            try:
                check(listen)
            except EndpointError as error:
                remote.refuse("listen", str(error))
        return listen

    def _folder(self, name: str) -> Path:
        """Return the folder of the records; a file in its place is noted."""
        logs: str = self._top.take("logs", TEXT, "logs")
        folder = self._base / logs / name
        for path in (folder.parent, folder):
            try:
                is_taken = path.exists() and not path.is_dir()
            except OSError as error:
                self._top.refuse("logs", f"{path}: {error.strerror}")
                return folder
            if is_taken:
                self._top.refuse("logs", f"{path} is no folder; records go into one")
        return folder


def _teams(game: Game[Any, Any, Any] | None, options: Mapping[str, Any], seats: int) -> Teams:
    """Return the seats that win and lose together; empty if the game's options are refused."""
    try:
        return () if game is None else game.teams(game.parse_options(dict(options)), seats)
    except BadSetup:
        return ()


def _stay_together(teams: Teams) -> bool:
    """Return whether partners stay partners when every player moves up by one seat."""
    seats = sum(map(len, teams))
    return {frozenset((seat + 1) % seats for seat in team) for team in teams} == set(map(frozenset, teams))


def _expand_format(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file's values with `format = "swiss"` as the table that it stands for."""
    short = isinstance(values.get("format"), str)
    return {**values, "format": {"name": values["format"]}} if short else dict(values)


def _plain(error: BadScoring) -> str:
    return str(error).removeprefix("by_rank: ")


def rename_plan(plan: TournamentPlan, name: str) -> TournamentPlan:
    """Return a plan under a name that differs from its file's; its records are in a folder of that name.

    Args:
        plan: plan of the file.
        name: new name of the tournament.

    Raises:
        BadRequest: no tournament can have this name.
    """
    try:
        msgspec.convert(name, NAME)
    except msgspec.ValidationError:
        raise BadRequest(
            f"a tournament can't be called {show_value(name)}: its name is {describe_type(NAME)}"
        ) from None
    folder = plan.run_settings.folder.with_name(name)
    return replace(plan, spec=replace(plan.spec, name=name), run_settings=replace(plan.run_settings, folder=folder))
