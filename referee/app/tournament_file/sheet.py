"""Reads a TOML file, checks every key, and reports all mistakes at once, each with its line.

The caller takes each key with the type that its value must have. A wrong value is noted with its line, a default takes
its place, and reading goes on.
"""

import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ...errors import BadRequest
from ...files.reading import MAX_SMALL_BYTES, BadFile, BadText, read_small_text
from ...settings import settings_of
from ...text import nearest, printable
from ...type_words import describe_type, show_value, unfit

Where = tuple[str | int, ...]
"""A value's place: keys, and within arrays indices from 0."""
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'""")
# Forms with three quotation marks come first: a form with one would take the first two of them as an empty text. Up to
# two quotation marks may stand right before the closing three, and belong to the text.
_SCALAR = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
    r"|[^,\]}\n#]+",
    re.DOTALL,
)


# tomllib returns values without their lines, and a mistake without a line is hard to find in a file of a hundred
# entrants. So the text is scanned a second time. The scanner runs only over text that tomllib has accepted. This makes
# it far simpler than a parser: it must know where each key, header and element begins, and nothing else. A library
# that keeps positions would have been the alternative; then a second parser could disagree with the first one.


class Lines:
    """The lines of a file's values.

    Args:
        text: TOML that tomllib has read without an error.

    Raises:
        RecursionError: arrays or inline tables are nested too deeply.
    """

    def __init__(self, text: str) -> None:
        self.known: dict[Where, int] = {}
        """Place -> line, from 1: of the key, of an array's element, or of a table's header."""
        self._text = text
        self._at = 0
        self._breaks = [match.start() for match in re.finditer("\n", text)]
        self._tables: Counter[Where] = Counter()
        """Array of tables -> how many of them were begun."""
        self._scan()

    def of(self, where: Where) -> int:
        """Return the line of a value; for a missing value, the line of the innermost table around it, or 1."""
        while where and where not in self.known:
            where = where[:-1]
        return self.known.get(where, 1)

    @property
    def _line(self) -> int:
        return bisect_right(self._breaks, self._at - 1) + 1

    def _scan(self) -> None:
        table: Where = ()
        self._skip(_GAP)
        while self._at < len(self._text):
            if self._take("[["):
                table = self._header(is_array=True)
            elif self._take("["):
                table = self._header(is_array=False)
            else:
                self._pair(table)
            self._skip(_GAP)

    def _header(self, *, is_array: bool) -> Where:
        """Step over the rest of a table's header, after its opening brackets, and return the table's place."""
        self._skip(_GAP)
        line, keys = self._line, self._keys()
        self._skip(_GAP)
        self._take("]]" if is_array else "]")
        where: Where = ()
        for key in keys[:-1]:
            where = (*where, key)
            self.known.setdefault(where, line)
            if where in self._tables:
                where = (*where, self._tables[where] - 1)
        where = (*where, keys[-1])
        if is_array:
            self.known.setdefault(where, line)
            self._tables[where] += 1
            where = (*where, self._tables[where] - 1)
        self.known[where] = line
        return where

    def _pair(self, table: Where) -> None:
        """Step over `key = value`; all parts of a dotted key are on this line."""
        line = self._line
        for key in self._keys():
            table = (*table, key)
            self.known.setdefault(table, line)
        self._skip(_GAP)
        self._take("=")
        self._skip(_GAP)
        self._value(table)

    def _keys(self) -> list[str]:
        keys = [self._key()]
        while dot := _DOT.match(self._text, self._at):
            self._at = dot.end()
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        key = self._skip(_KEY)
        # tomllib itself reads the escapes of a quoted key, so that its rules are not written twice.
        return next(iter(tomllib.loads(f"{key} = 0"))) if key[0] in "\"'" else key

    def _value(self, where: Where) -> None:
        if self._take("["):
            self._array(where)
        elif self._take("{"):
            self._inline_table(where)
        else:
            self._skip(_SCALAR)

    def _array(self, where: Where) -> None:
        index = 0
        self._skip(_GAP)
        while not self._take("]"):
            self.known[(*where, index)] = self._line
            self._value((*where, index))
            index += 1
            self._skip(_GAP)
            self._take(",")
            self._skip(_GAP)

    def _inline_table(self, where: Where) -> None:
        self._skip(_GAP)
        while not self._take("}"):
            self._pair(where)
            self._skip(_GAP)
            self._take(",")
            self._skip(_GAP)

    def _take(self, sign: str) -> bool:
        is_next = self._text.startswith(sign, self._at)
        if is_next:
            self._at += len(sign)
        return is_next

    def _skip(self, pattern: re.Pattern[str]) -> str:
        """Step over what a pattern matches here, and return it.

        Raises:
            ValueError: it matches nothing here, so the text is not TOML.
        """
        match = pattern.match(self._text, self._at)
        if match is None:
            raise ValueError(f"no TOML at character {self._at}")
        self._at = match.end()
        return match[0]


MAX_SPEC_BYTES = 1 << 20
"""Largest file of a tournament, in bytes: ten thousand entrants."""

_LARGEST = 2**63
_TWICE = ("Cannot overwrite", "Cannot declare", "Cannot redefine", "Cannot mutate", "Duplicate inline table key")
"""Beginnings of the errors of tomllib for a key that is in the file twice."""
_LINE = re.compile(r" \(at line (\d+), column \d+\)")


class Mistake(Struct, frozen=True, order=True):
    """One mistake."""

    line: int
    """Line of the mistake, from 1; 0: the file as a whole."""
    text: str
    """The mistake, and how to fix it."""


class BadTournamentFile(BadRequest):
    """A tournament's file that can't be played; it holds every mistake that was found, by line.

    Args:
        path: path of the file.
        mistakes: at least one, in any order.
    """

    def __init__(self, path: Path, mistakes: Iterable[Mistake]) -> None:
        self.path = path
        self.mistakes = tuple(sorted(set(mistakes)))
        places = [f"{path}:{mistake.line}" if mistake.line else str(path) for mistake in self.mistakes]
        lines = (f"{place}: {mistake.text}" for place, mistake in zip(places, self.mistakes, strict=True))
        super().__init__("\n".join(lines))


class BadToml(Exception):
    """A file that can't be read as TOML.

    Args:
        line: from 1, or 0 for the file as a whole.
        text: what is wrong.
    """

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


class Sheet:
    """One file: its values, the lines that they are on, and the mistakes found so far.

    Args:
        path: path of the file.

    Raises:
        BadTournamentFile: it can't be read as TOML at all.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.mistakes: list[Mistake] = []
        self.warnings: list[str] = []
        self.homes: dict[str, str] = {}
        """Key that is known in some table -> where it belongs, in words."""
        self._sections: list[Section] = []
        try:
            self.values, self._lines = read_toml(path, MAX_SPEC_BYTES)
        except BadToml as error:
            raise BadTournamentFile(path, [Mistake(error.line, printable(str(error)))]) from None
        if huge := list(_huge(self.values, ())):
            text = "whole numbers have 64 bits at most"
            mistakes = [Mistake(self.line(place), f"{printable(label(place))}: {text}") for place in huge]
            raise BadTournamentFile(path, mistakes)

    def refuse(self, where: Where, text: str) -> None:
        """Note a mistake in a value."""
        self.mistakes.append(Mistake(self.line(where), printable(text)))

    def warn(self, text: str) -> None:
        """Note a warning; the file is still accepted."""
        self.warnings.append(printable(text))

    def line(self, where: Where) -> int:
        """Return the line of a value, from 1."""
        return self._lines.of(where)

    def section(self, values: Mapping[str, Any], where: Where = (), home: str = "above the first [table]") -> "Section":
        """Return a table of the file; `finish` refuses each of its keys that was not taken.

        Args:
            values: the table.
            where: place of the table; empty for the whole file.
            home: words that say where its keys belong.
        """
        section = Section(self, values, where, home)
        self._sections.append(section)
        return section

    def finish(self) -> None:
        """Refuse each key that was not taken.

        Raises:
            BadTournamentFile: something is wrong with the file.
        """
        # An unknown key is refused, because a misspelt `rounds` would otherwise mean the default, and nobody would
        # notice before the tournament is over.
        homes = {key: section.home for section in reversed(self._sections) for key in section.known}
        for section in self._sections:
            section.refuse_unknown({**homes, **self.homes})
        if self.mistakes:
            raise BadTournamentFile(self.path, self.mistakes)


class Section:
    """One table of a sheet; see Sheet.section."""

    def __init__(self, sheet: Sheet, values: Mapping[str, Any], where: Where, home: str) -> None:
        self.sheet = sheet
        self.values = values
        self.where = where
        self.home = home
        self.known: list[str] = []

    def __contains__(self, key: str) -> bool:
        """Return whether the table has a key."""
        return key in self.values

    def take(self, key: str, kind: Any, default: Any = None) -> Any:
        """Return a key's value, checked by type; the default if it is missing, or wrong, which is noted."""
        self.known.append(key)
        if key not in self.values:
            return default
        try:
            return msgspec.convert(self.values[key], kind, strict=True)
        except msgspec.ValidationError:
            self.refuse(key, f"takes {describe_type(kind)}, not {show_value(unfit(self.values[key], kind))}")
            return default

    def choose(self, key: str, names: Iterable[str], default: str | None = None, *, what: str) -> str | None:
        """Return a key's value, which must be one of some names; the default if it is missing or wrong.

        Args:
            key: key of the table.
            names: the names that are allowed.
            default: value if the key is missing; None: the key is required, and noted if it is missing.
            what: kind of thing that the names name, such as `game`.
        """
        names = sorted(names)
        if key not in self.values and default is None:
            self.known.append(key)
            self.refuse(key, f"this key is missing; it names the {what}: {', '.join(names)}")
        name: str | None = self.take(key, Annotated[str, Meta(extra={"words": f"the name of a {what}"})], default)
        if name is not None and name not in names:
            self.refuse(key, f"there is no {what} {show_value(name)}{nearest(name, names)}")
            return default
        return name

    def read(self, struct: type[Struct]) -> dict[str, Any]:
        """Return the settings of a struct whose keys belong in this table, by field."""
        values = {}
        for setting in settings_of(struct):
            table, _, key = setting.key.rpartition(".")
            if key and table == label(self.where):
                values[setting.name] = self.take(key, setting.type, setting.default)
        return values

    def table(self, key: str, home: str) -> "Section":
        """Return a table within this one; an empty one if it is missing, or is no table, which is noted."""
        words = f"a table: [{label((*self.where, key))}]"
        table = self.take(key, Annotated[dict[str, Any], Meta(extra={"words": words})], {})
        return self.sheet.section(table, (*self.where, key), home)

    def refuse(self, key: str, text: str) -> None:
        """Note a mistake in a key."""
        where = (*self.where, key)
        self.sheet.refuse(where, f"{label(where)}: {text}")

    def refuse_unknown(self, homes: Mapping[str, str]) -> None:
        """Note each key that was not taken.

        Args:
            homes: key that is known in some table -> where it belongs.
        """
        for key in self.values:
            if key not in self.known:
                remedy = f" here; it belongs {homes[key]}" if key in homes else nearest(key, sorted(self.known))
                self.refuse(key, f"there is no such key{remedy}")


def read_toml(path: Path, max_bytes: int = MAX_SMALL_BYTES) -> tuple[dict[str, Any], Lines]:
    """Read a TOML file.

    Args:
        path: path of the file.
        max_bytes: largest size of the file.

    Returns:
        The values of the file, and the lines that they are on.

    Raises:
        BadToml: it is no file, too long, unreadable, not UTF-8 or not TOML.
    """
    try:
        # tomllib does the same. Both scans must see the same text.
        text = read_small_text(path, max_bytes).replace("\r\n", "\n")
    except BadText as error:
        raise BadToml(error.line, str(error.strerror)) from None
    except BadFile as error:
        raise BadToml(0, str(error.strerror)) from None
    except OSError as error:
        raise BadToml(0, f"it can't be read: {error.strerror}") from None
    try:
        return tomllib.loads(text), Lines(text)
    except RecursionError:
        raise BadToml(0, "arrays or tables are nested too deeply") from None
    except ValueError as error:  # not TOML, or a number of thousands of digits
        place = _LINE.search(str(error))
        line = int(place[1]) if place else text.count("\n") + 1 if "at end of document" in str(error) else 0
        detail = _LINE.sub("", str(error))
        if detail.startswith(_TWICE):
            raise BadToml(line, "this key or table is in the file twice; keep one of them") from None
        raise BadToml(
            line, f"this is not TOML: {detail}; write texts in quotation marks, and tables in brackets"
        ) from None


def label(where: Where) -> str:
    """Return a place as the file writes it, without indices: `entrants.player`."""
    return ".".join(part for part in where if isinstance(part, str))


def _huge(value: Any, where: Where) -> Iterator[Where]:
    """Yield the places of whole numbers that are too large for 64 bits."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _huge(inner, (*where, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _huge(inner, (*where, index))
    elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        yield where
