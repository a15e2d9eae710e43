"""Small files of strangers: never more than a limit is read, and nothing is waited for."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.app.tournament_file.sheet import BadToml, read_toml
from referee.cli.options import parse_options
from referee.cli.submission_client import ServiceError, find_service, find_token
from referee.errors import BadRequest
from referee.files.reading import MAX_SMALL_BYTES, BadFile, BadText, read_small, read_small_text
from referee.net.links.tokens import MAX_FILE_BYTES, BadTokens, add_tokens, read_tokens
from referee.programs.player_spec import PlayerError, read_folder
from referee.record.key import BadKey, load_key, parse_public


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
"""Function that reads a small file -> its refusal."""


@pytest.mark.parametrize("name", READERS)
def test_pipes_are_refused(name: str, tmp_path: Path) -> None:
    """A pipe is refused at once, and not waited for."""
    read, error = READERS[name]
    path = tmp_path / "player.toml"
    os.mkfifo(path, 0o600)
    with pytest.raises(error) as caught:
        read(path)
    assert "no file" in str(getattr(caught.value, "reason", None) or caught.value)


@pytest.mark.parametrize("name", sorted(READERS.keys() - {"player.toml"}))  # there it is a link out of the folder
def test_devices_are_refused(name: str) -> None:
    """Nothing of an endless device is read."""
    read, error = READERS[name]
    with pytest.raises(error) as caught:
        read(Path("/dev/zero"))
    assert "no file" in str(getattr(caught.value, "reason", None) or caught.value)


BOUNDS = {"players": MAX_FILE_BYTES, "certificate": 1 << 20}
"""Files with a higher limit than others."""


@pytest.mark.parametrize("name", READERS)
def test_what_is_too_long_is_refused(name: str, tmp_path: Path) -> None:
    """The error has the limit. A key of a thousand parts, which takes a parser minutes, is not even parsed."""
    read, error = READERS[name]
    limit = BOUNDS.get(name, MAX_SMALL_BYTES)
    path = tmp_path / "player.toml"
    path.write_text("a" + ".a" * 60_000 + " = 1\n" + "#" * (limit - MAX_SMALL_BYTES))
    path.chmod(0o600)
    with pytest.raises(error) as caught:
        read(path)
    assert f"over {limit} bytes" in str(getattr(caught.value, "reason", None) or caught.value)


def test_a_players_file_has_short_lines(tmp_path: Path) -> None:
    """A players' file may be long, but one with a long line is refused before it is parsed."""
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
    """A null character would end the referee at a program's start; others would act on a terminal."""
    lines = {"name": '"a"', "run": '"true"', key: f'["{char}"]' if key == "games" else f'"a{char}b"'}
    (tmp_path / "player.toml").write_text("".join(f"{one} = {value}\n" for one, value in lines.items()))
    with pytest.raises(PlayerError, match=f"`{key}` has the character "):
        read_folder(tmp_path)


TEXTS: dict[str, tuple[Callable[[Path], object], type[Exception], str]] = {
    "players": (read_tokens, BadTokens, f'ada = "{"0" * 64}"'),
    "layout": (_layout, BadRequest, "note = 1"),
    "layout of a spec": (read_toml, BadToml, "note = 1"),
    "token": (find_token, ServiceError, "abc123"),
    "player.toml": (_player, PlayerError, 'name = "ada"\nrun = "true"'),
}
"""Function that reads a user's text -> its call, its error, and such a text."""


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_and_other_line_ends_are_read(tmp_path: Path, kind: str, end: str, mark: str) -> None:
    """Editors on Windows write them."""
    read, _, text = TEXTS[kind]
    path = tmp_path / "player.toml"
    path.write_bytes(f"{mark}{text}\n".replace("\n", end).encode())
    path.chmod(0o600)
    read(path)


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, kind: str, encoding: str) -> None:
    """It is named with a byte order mark or without."""
    read, error, text = TEXTS[kind]
    path = tmp_path / "player.toml"
    path.write_bytes(text.encode(encoding))
    path.chmod(0o600)
    with pytest.raises(error, match=r"text in UTF-16; save it as UTF-8 in your editor"):
        read(path)


@pytest.mark.parametrize("kind", TEXTS)
def test_another_encoding_is_named_with_its_place(tmp_path: Path, kind: str) -> None:
    """The line and the column are those that an editor shows."""
    read, error, text = TEXTS[kind]
    path = tmp_path / "player.toml"
    path.write_bytes(f"{text}\n# ü".encode() + "é\n".encode("latin-1"))
    path.chmod(0o600)
    line = text.count("\n") + 2
    with pytest.raises(error, match=rf"line {line}, column 4: the byte 0xe9 is no UTF-8; in Latin-1 it is é"):
        read(path)


def test_an_empty_text_is_one(tmp_path: Path) -> None:
    """A single character is a text, too, but not a control character."""
    (tmp_path / "empty").touch()
    assert read_small_text(tmp_path / "empty") == ""
    (tmp_path / "sign").write_bytes(b"\x80")
    with pytest.raises(BadText, match=r"0x80 is no UTF-8; save it"):
        read_small_text(tmp_path / "sign")
