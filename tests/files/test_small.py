"""Small files that others give: never more than a bound is read, and nothing is waited for."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.app.game_options import parse_options
from referee.app.tournament_file.sheet import BadToml, read_toml
from referee.errors import BadRequest
from referee.files.small import MAX_SMALL_BYTES, BadFile, read_small
from referee.launch import PlayerError, read_folder
from referee.net.links.tokens import MAX_FILE_BYTES, BadTokens, add_tokens, read_tokens
from referee.record.key_file import BadKey, load_key, parse_public
from referee.submissions.client import ServiceError, find_service, find_token


def _layout(path: Path) -> object:
    return parse_options([f"layout={path}"], {"layout"})


def _certificate(path: Path) -> object:
    return find_service("https://127.0.0.1:9", "token", path).get("submissions")


def _player(path: Path) -> object:
    return read_folder(path.parent)


READERS: dict[str, tuple[Callable[[Path], object], type[Exception]]] = {
    "itself": (read_small, BadFile),
    "players": (read_tokens, BadTokens),
    "key": (load_key, BadKey),
    "public key": (lambda path: parse_public(str(path)), BadKey),
    "layout": (_layout, BadRequest),
    "layout of a spec": (read_toml, BadToml),
    "certificate": (_certificate, ServiceError),
    "token": (find_token, ServiceError),
    "player.toml": (_player, PlayerError),
}
"""What reads a small file -> how it refuses one."""


@pytest.mark.parametrize("name", READERS)
def test_pipes_are_refused(name: str, tmp_path: Path) -> None:
    """At once: nobody writes to it, and it is not waited for."""
    read, error = READERS[name]
    path = tmp_path / "player.toml"
    os.mkfifo(path, 0o600)
    with pytest.raises(error) as caught:
        read(path)
    assert "no file" in str(getattr(caught.value, "reason", None) or caught.value)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"player.toml"}))  # there it is a link out of the folder
def test_devices_are_refused(name: str) -> None:
    """Nothing of one that never ends is read."""
    read, error = READERS[name]
    with pytest.raises(error) as caught:
        read(Path("/dev/zero"))
    assert "no file" in str(getattr(caught.value, "reason", None) or caught.value)


BOUNDS = {"players": MAX_FILE_BYTES, "certificate": 1 << 20}
"""What may be longer than others."""


@pytest.mark.parametrize("name", READERS)
def test_what_is_too_long_is_refused(name: str, tmp_path: Path) -> None:
    """It says how long it may be; a key of a thousand parts, which takes a parser minutes, is not even parsed."""
    read, error = READERS[name]
    limit = BOUNDS.get(name, MAX_SMALL_BYTES)
    path = tmp_path / "player.toml"
    path.write_text("a" + ".a" * 60_000 + " = 1\n" + "#" * (limit - MAX_SMALL_BYTES))
    path.chmod(0o600)
    with pytest.raises(error) as caught:
        read(path)
    assert f"over {limit} bytes" in str(getattr(caught.value, "reason", None) or caught.value)


def test_a_players_file_has_short_lines(tmp_path: Path) -> None:
    """A file of players that is long is fine, and one with a long line is none: it is not parsed."""
    path = tmp_path / "players.toml"
    path.write_text("".join(f'p{number} = "{number:064x}"\n' for number in range(1000)))
    assert len(read_tokens(path)) == 1000
    with pytest.raises(BadTokens, match="would be over"):
        add_tokens(path, [f"q{number}" for number in range(3000)], may_renew=False)
    assert len(read_tokens(path)) == 1000
    path.write_text("a" + ".a" * 60_000 + " = 1\n")
    with pytest.raises(BadTokens, match="a line is longer than 256"):
        read_tokens(path)


@pytest.mark.parametrize("key", ["name", "run", "build", "version", "games"])
@pytest.mark.parametrize("char", ["\\u0000", "\\u001b", "\\u0085", "\\u202e", "\\n"])
def test_nothing_in_a_player_toml_is_unprintable(tmp_path: Path, key: str, char: str) -> None:
    """A null character would end the referee where a program is started, others would act on a terminal."""
    lines = {"name": '"a"', "run": '"true"', key: f'["{char}"]' if key == "games" else f'"a{char}b"'}
    (tmp_path / "player.toml").write_text("".join(f"{one} = {value}\n" for one, value in lines.items()))
    with pytest.raises(PlayerError, match=f"`{key}` has the character "):
        read_folder(tmp_path)
