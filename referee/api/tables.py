"""Tables of matches, as plain rows or for pandas, Polars and Arrow."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import BadRequest, RefereeError
from ..games.arguments import describe
from ..match.commands import find_rank
from ..tournament.match_context import MatchEntry

Row = tuple[Any, ...]
Kind = type[str] | type[int] | type[float] | type[bool]
COLUMNS: dict[str, dict[str, Kind]] = {
    "matches": {
        "match": str,
        "turns": int,
        "reason": str,
        "seat": int,
        "player": str,
        "rank": int,
        "score": int,
        "used_ms": float,
        "foul": str,
    },
    "turns": {
        "match": str,
        "turn": int,
        "seat": int,
        "player": str,
        "move": str,
        "is_legal": bool,
        "score": int,
        "took_ms": float,
    },
    "fouls": {
        "match": str,
        "turn": int,
        "seat": int,
        "player": str,
        "cause": str,
        "rule": str,
        "code": str,
        "detail": str,
    },
    "times": {
        "match": str,
        "turn": int,
        "seat": int,
        "player": str,
        "used_ms": float,
        "limit_ms": float,
        "lag_ms": float,
    },
}
"""Name of a table -> its columns, each with the type of its values; a value may also be None.

The types are fixed, not derived from the values. A column that is empty has no value to derive it from, and the tables
of several matches must fit together.
"""
_PANDAS: dict[Kind, str] = {str: "string", int: "Int64", float: "float64", bool: "bool"}
_ARROW: dict[Kind, str] = {str: "string", int: "int64", float: "float64", bool: "bool"}


class NotInstalled(RefereeError):
    """A table was asked for in the form of a library that is not installed."""


class Tables(ABC):
    """Tables of matches: `matches` (a row for each seat of each match), `turns`, `fouls` and `times`."""

    @abstractmethod
    def _entries(self) -> Iterable[MatchEntry]:
        """Return the results of the matches."""

    @abstractmethod
    def _record_rows(self, table: str) -> Iterable[Row]:
        """Return the rows of the table `turns` or `times`; raise RefereeError if there are no records."""

    def rows(self, table: str = "matches") -> list[dict[str, Any]]:
        """Return a table as plain rows: name of a column -> value.

        Args:
            table: `matches`, `turns`, `fouls` or `times`.

        Raises:
            RefereeError: there is no such table, or it needs records that were not kept.

        >>> row = match.rows()[0]
        >>> row["player"], row["rank"], row["score"], row["foul"]
        ('greedy', 1, 1, None)
        """
        columns = COLUMNS.get(table) if isinstance(table, str) else None
        if columns is None:
            raise BadRequest(f"there is no table {describe(table)}; there are {', '.join(COLUMNS)}")
        make = {"matches": self._match_rows, "fouls": self._foul_rows}
        rows = make[table]() if table in make else self._record_rows(table)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def to_pandas(self, table: str = "matches") -> Any:
        """Return one of the tables of `rows` as a `pandas.DataFrame`.

        Raises:
            RefereeError: pandas is not installed, or as for `rows`.

        >>> match.to_pandas("turns").shape  # doctest: +SKIP
        (27, 8)
        """
        pandas, columns = _library("pandas"), self._by_column(table)
        kinds = COLUMNS[table]
        return pandas.DataFrame(
            {column: pandas.Series(values, dtype=_PANDAS[kinds[column]]) for column, values in columns.items()}
        )

    def to_polars(self, table: str = "matches") -> Any:
        """Return one of the tables of `rows` as a `polars.DataFrame`.

        Raises:
            RefereeError: Polars is not installed, or as for `rows`.

        >>> match.to_polars("turns").shape  # doctest: +SKIP
        (27, 8)
        """
        return _library("polars").DataFrame(self._by_column(table), schema=COLUMNS[table])

    def to_arrow(self, table: str = "matches") -> Any:
        """Return one of the tables of `rows` as a `pyarrow.Table`.

        Raises:
            RefereeError: PyArrow is not installed, or as for `rows`.

        >>> match.to_arrow("turns").num_rows  # doctest: +SKIP
        27
        """
        pyarrow, columns = _library("pyarrow"), self._by_column(table)
        schema = pyarrow.schema([(column, _ARROW[kind]) for column, kind in COLUMNS[table].items()])
        return pyarrow.table(columns, schema=schema)

    def _match_rows(self) -> Iterator[Row]:
        for entry in self._entries():
            fouls = {foul.seat: foul.cause for foul in entry.fouls}
            for seat, name in enumerate(entry.names):
                rank, score, used_ms = find_rank(entry.ranking, seat), entry.scores[seat], round(entry.used_ms[seat], 3)
                yield entry.match, entry.turns, entry.reason, seat, name, rank, score, used_ms, fouls.get(seat)

    def _foul_rows(self) -> Iterator[Row]:
        for entry in self._entries():
            for foul in entry.fouls:
                name = entry.names[foul.seat]
                yield entry.match, foul.turn, foul.seat, name, foul.cause, foul.rule, foul.code, foul.detail

    def _by_column(self, table: str) -> dict[str, list[Any]]:
        rows = self.rows(table)
        return {column: [row[column] for row in rows] for column in COLUMNS[table]}


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise NotInstalled(f"{name} is not installed here: pip install {name}, or use rows()") from None
