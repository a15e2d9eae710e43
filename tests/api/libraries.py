"""Convert the tables to pandas, Polars and PyArrow: `python -m tests.api.libraries` tries the real libraries.

They take half a gigabyte, so the tests use stand-ins and do not depend on them; `.ci/run` installs them.
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import referee
from referee.api.tables import COLUMNS, Tables

GAMES = ("q", "quincy", "quincala", "quadominos")
OPTIONS = {"quadominos": {"rounds": 1}}


def main() -> int:
    """Convert all tables of matches in each game, with fouls and without, and of an evaluation."""
    with TemporaryDirectory() as folder:
        os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = folder  # for the key
        found = list[Tables]()
        for game in GAMES:
            for second in ("house:greedy", _wrong):
                found += [referee.play(game, ["house:random", second], seed=1, options=OPTIONS.get(game))]
        found += [referee.evaluate("q", [_wrong, "house:dag"], pairs=2, records=Path(folder, "r"), progress=False)]
        for table in COLUMNS:
            _try(table, found)
    print(f"{len(found)} matches and evaluations, {len(COLUMNS)} tables, 3 libraries: all hold")
    return 0


def _wrong(_view: Any) -> Any:
    """Return something that is not a move of any game."""
    return "nothing"


def _try(table: str, found: list[Tables]) -> None:
    """Check that a table has its rows in each library, and that tables of different matches can be joined."""
    rows = [tables.rows(table) for tables in found]
    frames = [tables.to_pandas(table) for tables in found]
    assert [_plain(frame) for frame in frames] == rows
    assert len(import_module("pandas").concat(frames)) == sum(map(len, rows))
    assert len({tuple(map(str, frame.dtypes)) for frame in frames}) == 1
    frames = [tables.to_polars(table) for tables in found]
    assert [frame.to_dicts() for frame in frames] == rows
    assert import_module("polars").concat(frames).height == sum(map(len, rows))
    frames = [tables.to_arrow(table) for tables in found]
    assert [frame.to_pylist() for frame in frames] == rows
    assert import_module("pyarrow").concat_tables(frames).num_rows == sum(map(len, rows))


def _plain(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a pandas frame, with None for missing values."""
    rows: list[dict[str, Any]] = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return rows


if __name__ == "__main__":
    sys.exit(main())
