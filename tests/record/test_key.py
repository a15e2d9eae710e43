"""The referee's key: its signatures, its encryption, and its file."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from referee.record.key import (
    MANIFEST_PURPOSE,
    RECORD_PURPOSE,
    VARIABLE,
    BadKey,
    Sealer,
    WrongKey,
    default_path,
    is_signed,
    load_key,
    load_or_make,
    make_key,
    parse_public,
    public_pem,
)

SEALER = Sealer.new()
DIGEST = "5a" * 32
SIGNATURE = SEALER.sign(RECORD_PURPOSE, DIGEST)


def test_a_signature_holds_for_its_key_purpose_and_digest() -> None:
    """All three must be those that were signed."""
    assert is_signed(SEALER.public, RECORD_PURPOSE, DIGEST, SIGNATURE)


@pytest.mark.parametrize(
    ("public", "purpose", "digest", "signature"),
    [
        (Sealer.new().public, RECORD_PURPOSE, DIGEST, SIGNATURE),
        (SEALER.public, MANIFEST_PURPOSE, DIGEST, SIGNATURE),
        (SEALER.public, RECORD_PURPOSE, "5b" + DIGEST[2:], SIGNATURE),
        (SEALER.public, RECORD_PURPOSE, DIGEST, "00" * 64),
        (SEALER.public, RECORD_PURPOSE, DIGEST, SIGNATURE[:-2]),
        (SEALER.public, RECORD_PURPOSE, DIGEST, "no hex"),
        (SEALER.public, RECORD_PURPOSE, DIGEST, ""),
        ("None", RECORD_PURPOSE, DIGEST, SIGNATURE),
        (SEALER.public[:-2], RECORD_PURPOSE, DIGEST, SIGNATURE),
    ],
    ids=["key", "purpose", "digest", "zeros", "short", "no hex", "empty", "no key", "short key"],
)
def test_a_signature_holds_for_nothing_else(public: str, purpose: str, digest: str, signature: str) -> None:
    """Another key, purpose, digest or signature is refused, whatever its form."""
    assert not is_signed(public, purpose, digest, signature)


def test_every_bit_of_a_signature_counts() -> None:
    data = bytes.fromhex(SIGNATURE)
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        assert not is_signed(SEALER.public, RECORD_PURPOSE, DIGEST, changed.hex())


def test_what_is_locked_is_opened_by_its_key_in_its_context_only() -> None:
    """Another key, another context and damage are all refused."""
    locked = SEALER.lock(b"secret", "match 1")
    assert SEALER.unlock(locked, "match 1") == b"secret"
    assert b"secret".hex() not in locked
    assert SEALER.lock(b"secret", "match 1") != locked
    damaged = locked[:-1] + ("0" if locked[-1] != "0" else "1")
    for sealer, text, context in (
        (Sealer.new(), locked, "match 1"),
        (SEALER, locked, "match 2"),
        (SEALER, damaged, "match 1"),
        (SEALER, "", "match 1"),
        (SEALER, "no hex", "match 1"),
    ):
        with pytest.raises(WrongKey):
            sealer.unlock(text, context)


# --- the file


def test_a_key_is_made_once_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    """The file has mode 600, gives the same key when read again, and is never overwritten."""
    path = tmp_path / "folder" / "key.pem"
    made, is_new = load_or_make(path)
    assert is_new
    assert path.stat().st_mode & 0o777 == 0o600
    again, is_new = load_or_make(path)
    assert not is_new
    assert made.public == again.public == load_key(path).public
    assert again.unlock(made.lock(b"seed", "m"), "m") == b"seed"
    with pytest.raises(BadKey, match="never overwritten"):
        make_key(path)
    assert [file.name for file in path.parent.iterdir()] == ["key.pem"]


def rsa_pem() -> bytes:
    """Return a private key of another kind."""
    return generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def test_what_is_no_key_is_told(tmp_path: Path) -> None:
    """A missing file, a file that others can read, junk, and another kind of key each have their own error."""
    path = tmp_path / "key.pem"
    with pytest.raises(BadKey, match=r"key.pem: No such file.*referee key make"):
        load_key(path)
    make_key(path)
    path.chmod(0o640)
    with pytest.raises(BadKey, match="other users can read"):
        load_key(path)
    path.chmod(0o600)
    for content, text in ((b"junk", "no private key"), (b"", "no private key"), (rsa_pem(), "no Ed25519 key")):
        path.write_bytes(content)
        with pytest.raises(BadKey, match=text):
            load_or_make(path)


@pytest.mark.parametrize("change", [b"\n%s", b"%s\n", b"Bag Attributes\n%s", b"%s%s"])
def test_a_key_has_one_form(tmp_path: Path, change: bytes) -> None:
    """Extra bytes around a private or public key, or after it, are refused."""
    path, public = tmp_path / "key.pem", tmp_path / "key.pub"
    pem = public_pem(make_key(path).public).encode()
    count = change.count(b"%s")
    path.write_bytes(change % ((path.read_bytes(),) * count))
    public.write_bytes(change % ((pem,) * count))
    with pytest.raises(BadKey, match="not in the form that `referee key make`"):
        load_key(path)
    with pytest.raises(BadKey, match="not in the form that `referee key export`"):
        parse_public(str(public))


def test_a_key_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A file in place of the folder is named, with advice."""
    (tmp_path / "folder").write_text("")
    with pytest.raises(BadKey, match=rf"can't write .*{VARIABLE}"):
        load_or_make(tmp_path / "folder" / "key.pem")


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({VARIABLE: "/k", "XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/k"),
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, "/x/referee/key.pem"),
        ({"XDG_CONFIG_HOME": "", "HOME": "/h"}, "/h/.config/referee/key.pem"),
    ],
)
def test_where_the_key_is_kept(environment: dict[str, str], path: str) -> None:
    """The variable comes before the user's folders."""
    assert default_path(environment) == Path(path)


def test_a_public_key_is_given_in_hex_or_as_a_file(tmp_path: Path) -> None:
    """64 hex digits, a file with them, and a PEM file all name the same key; all else is refused."""
    pem, digits, other = tmp_path / "k.pub", tmp_path / "k.hex", tmp_path / "rsa.pub"
    pem.write_text(public_pem(SEALER.public))
    digits.write_text(SEALER.public + "\n")
    assert {parse_public(str(text)) for text in (SEALER.public, pem, digits)} == {SEALER.public}
    key = generate_private_key(65537, 2048).public_key()
    other.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    for text, problem in ((str(other), "no Ed25519"), ("nowhere", "neither"), (str(tmp_path), "neither"), ("", "nei")):
        with pytest.raises(BadKey, match=problem):
            parse_public(text)
    digits.write_text(f" {SEALER.public}\n")
    with pytest.raises(BadKey, match="holds no public key"):
        parse_public(str(digits))
    digits.write_bytes(b"\xff" * 64)
    with pytest.raises(BadKey, match="holds no public key"):
        parse_public(str(digits))


def test_a_public_key_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Editors on Windows write one; the key is the same."""
    path = tmp_path / "key.pem"
    for text in ("ab" * 32 + "\n", public_pem("ab" * 32)):
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert parse_public(str(path)) == "ab" * 32
