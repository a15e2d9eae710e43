"""The files of tokens."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from referee.net.links.tokens import BadTokens, add_tokens, read_tokens, remove_token


def test_who_adds_at_once_loses_nobody(tmp_path: Path) -> None:
    """Each thread reads what the last one has written; processes would do the same."""
    path = tmp_path / "authors.toml"
    names = [f"p{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(add_tokens, path, may_renew=False), [[name] for name in names]))
    assert set(read_tokens(path)) == set(names)


def test_who_is_removed_is_nobody(tmp_path: Path) -> None:
    """The other tokens stay."""
    path = tmp_path / "authors.toml"
    add_tokens(path, ["ada", "bob"], may_renew=False)
    remove_token(path, "ada")
    assert list(read_tokens(path)) == ["bob"]
    with pytest.raises(BadTokens, match="'ada' has no token"):
        remove_token(path, "ada")
