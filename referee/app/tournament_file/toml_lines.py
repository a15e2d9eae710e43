"""Tells on which line of a TOML file each value stands.

The standard library's parser keeps no lines. What it has accepted is TOML, so this scanner need not judge anything: it
walks from key to key, and steps over strings, comments, arrays and inline tables.
"""

import re
import tomllib
from bisect import bisect_right
from collections import Counter

Where = tuple[str | int, ...]
"""A value's place: keys, and within arrays indices from 0."""
_GAP = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'""")
_SCALAR = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}(?!")'
    r"|'''.*?'{3,5}(?!')"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
    r"|[^,\]}\n#]+",
    re.DOTALL,
)


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
        """Return the line of a value; of what is not there, that of the innermost table around it, or 1."""
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
        """Step over a table's header behind its brackets, and return the table's place."""
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
        """Step over `key = value`; of a dotted key, all parts stand on the line."""
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
        found = self._skip(_KEY)
        return next(iter(tomllib.loads(f"{found} = 0"))) if found[0] in "\"'" else found

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
            ValueError: it matches nothing: the text is no TOML.
        """
        found = pattern.match(self._text, self._at)
        if found is None:
            raise ValueError(f"no TOML at character {self._at}")
        self._at = found.end()
        return found[0]
