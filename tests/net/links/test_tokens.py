"""The files of tokens."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from referee.net.links.tokens import add_tokens, read_tokens


def test_who_adds_at_once_loses_nobody(tmp_path: Path) -> None:
    """In threads as in processes: each reads what the one before has written."""
    path = tmp_path / "authors.toml"
    names = [f"p{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(add_tokens, path, may_renew=False), [[name] for name in names]))
    assert set(read_tokens(path)) == set(names)
