"""The referee's private key: it signs the end of a record, and encrypts the seed of a running match.

The key is kept in a file. Each signed text begins with its purpose, so no signature can be used for another purpose.
"""

import codecs
import hmac
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidSignature, InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from ..errors import BadRequest
from ..files.reading import read_small
from ..files.whole import write_whole

# One Ed25519 key is the source of all secrets, so that an organiser has to guard only one file. HKDF derives from it a
# key for each other purpose: to encrypt the seed of a running match, to make the tokens with which players come back,
# and to make the seeds of a tournament. No derived key reveals another one, and none is stored: the file alone is
# enough to resume everything.
#
# The record must hold the seed before the match begins, so that a crashed match can be resumed, but nobody may read it
# there. So the seed is encrypted, and bound to the commitment of its match: copied to another header, it can't be
# decrypted.

RECORD_PURPOSE = "referee record 1"
MANIFEST_PURPOSE = "referee manifest 1"
_NONCE_BYTES = 12
_LOCK_INFO = b"referee seed of a running match"
_TOKEN_INFO = b"referee tokens to come back with"
_SECRET_INFO = b"referee secret of a tournament"


class WrongKey(Exception):
    """A secret can't be decrypted: it was encrypted with another key, or it is damaged."""


class Sealer:
    """One referee's private key.

    Args:
        key: the key.
    """

    can_sign = True
    """False in a worker, which does not have the key: the tournament's process seals the worker's records."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw().hex()
        """The public key: 32 bytes in hex."""
        self._cipher = ChaCha20Poly1305(self._derive(_LOCK_INFO))
        self._token_key = self._derive(_TOKEN_INFO)
        self._secret_key = self._derive(_SECRET_INFO)

    def _derive(self, info: bytes) -> bytes:
        return HKDF(SHA256(), 32, None, info).derive(self._key.private_bytes_raw())

    @classmethod
    def new(cls) -> Self:
        """Make a new random key."""
        return cls(Ed25519PrivateKey.generate())

    def sign(self, purpose: str, digest: str) -> str:
        """Return the signature of a digest for a purpose: 64 bytes in hex."""
        return self._key.sign(_text(purpose, digest)).hex()

    def lock(self, secret: bytes, context: str) -> str:
        """Encrypt a secret so that it can be decrypted only with this key and for the same context.

        Returns:
            Nonce and ciphertext in hex.
        """
        nonce = os.urandom(_NONCE_BYTES)
        return (nonce + self._cipher.encrypt(nonce, secret, context.encode())).hex()

    def token(self, match: str, commitment: str, seat: int) -> str:
        """Derive the token with which a seat's player identifies itself when it comes back.

        The key is its only secret source, so neither a revealed seed nor another player's token reveals it.

        Args:
            match: the match's name.
            commitment: commitment to the match's seed.
            seat: the player's seat.

        Returns:
            64 hex digits. A referee that resumes the match with this key derives the same token.
        """
        return hmac.digest(self._token_key, f"{match} {commitment} {seat}".encode(), "sha256").hex()

    def secret(self, salt: str) -> bytes:
        """Derive the secret from which the seeds of a tournament's matches follow.

        Args:
            salt: random text of the tournament, which makes its secret different from those of other tournaments.

        Returns:
            32 bytes. A referee that resumes the tournament with this key derives the same secret.
        """
        return hmac.digest(self._secret_key, salt.encode(), "sha256")

    def unlock(self, locked: str, context: str) -> bytes:
        """Decrypt a secret that `lock` encrypted.

        Raises:
            WrongKey: the secret was encrypted with another key or for another context, or it is damaged.
        """
        try:
            data = bytes.fromhex(locked)
            return self._cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], context.encode())
        except (InvalidTag, ValueError):
            raise WrongKey("not locked with this key") from None


def is_signed(public: str, purpose: str, digest: str, signature: str) -> bool:
    """Return whether a signature is valid.

    Args:
        public: public key, 32 bytes in hex.
        purpose: purpose for which the digest was signed.
        digest: signed digest.
        signature: signature, 64 bytes in hex.
    """
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), _text(purpose, digest))
    except (InvalidSignature, ValueError):
        return False
    return True


def _text(purpose: str, digest: str) -> bytes:
    return f"{purpose}\n{digest}".encode()


VARIABLE = "REFEREE_KEY"
"""Environment variable that names the key's file."""
_PUBLIC = re.compile(r"[0-9a-f]{64}")


class BadKey(BadRequest):
    """A key can't be read or created; the text names the file and says what to do."""


def default_path(environment: Mapping[str, str]) -> Path:
    """Return the default path of the key.

    Args:
        environment: environment variables. The first of REFEREE_KEY, XDG_CONFIG_HOME and HOME that is set counts.
    """
    if environment.get(VARIABLE):
        return Path(environment[VARIABLE])
    configuration = environment.get("XDG_CONFIG_HOME")
    home = environment.get("HOME")
    if not configuration and not home:
        return Path("referee-key.pem")  # without a home folder, the key lies in the current folder
    return Path(configuration or Path(home or "") / ".config") / "referee" / "key.pem"


def make_key(path: Path) -> Sealer:
    """Make a new key and write it to a file.

    Raises:
        BadKey: the file exists already, or it can't be written.
    """
    key = Ed25519PrivateKey.generate()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, [encode_pem(key)], mode=0o600, may_replace=False)
    except OSError as error:
        if path.exists():
            raise BadKey(f"{path} exists; a key is never overwritten, because old records need it") from None
        raise BadKey(f"can't write {path}: {error.strerror}; name another file with --key or {VARIABLE}") from None
    return Sealer(key)


def load_key(path: Path) -> Sealer:
    """Read a key.

    Raises:
        BadKey: there is no such file, other users can read it, or it holds no Ed25519 private key in PEM.
    """
    try:
        mode = path.stat().st_mode
        data = read_small(path)
    except OSError as error:
        raise BadKey(f"can't read the key {path}: {error.strerror}; `referee key make` makes one") from None
    if mode & 0o077:
        raise BadKey(
            f"other users can read the key {path}; run `chmod 600 {path}`, and make a new key if somebody has copied it"
        )
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise BadKey(f"{path} is no private key in PEM: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise BadKey(f"{path} is no Ed25519 key")
    if data != encode_pem(key):
        raise BadKey(
            f"{path} is not in the form that `referee key make` writes; `openssl pkey -in {path}` prints that form"
        )
    return Sealer(key)


def encode_pem(key: Ed25519PrivateKey | EllipticCurvePrivateKey) -> bytes:
    """Encode a private key as the content of its file."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def load_or_make(path: Path) -> tuple[Sealer, bool]:
    """Read a key, or create it if there is no such file.

    Returns:
        The key, and True if it is new.

    Raises:
        BadKey: the key can't be read or created.
    """
    if not path.exists():
        try:
            return make_key(path), True
        except BadKey:
            if not path.exists():  # otherwise another referee has just made it
                raise
    return load_key(path), False


def public_pem(public: str) -> str:
    """Return a public key, given in hex, as PEM."""
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def parse_head(text: str) -> str:
    """Parse the head that an auditor gave, and return it in lower case.

    Raises:
        BadRequest: the text is not 64 hex digits.
    """
    if not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        raise BadRequest(f"--head takes the 64 hex digits that a player was sent as `head`, not {text!r}")
    return text.lower()


def parse_seed(text: str) -> str:
    """Parse the seed that an auditor gave, and return it in lower case.

    Raises:
        BadRequest: the text is not 64 hex digits.
    """
    if not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        raise BadRequest(
            f"--seed takes the 64 hex digits of a seed, not {text!r}; the whole record shows the seed in its result"
        )
    return text.lower()


def parse_public(text: str) -> str:
    """Parse the public key that an auditor gave, and return it in hex.

    Args:
        text: 64 hex digits, or a file that holds them or the public key in PEM.

    Raises:
        BadKey: the text is none of these.
    """
    if _PUBLIC.fullmatch(text):
        return text
    try:
        content = read_small(Path(text)).removeprefix(codecs.BOM_UTF8)  # editors on Windows write it
        if _PUBLIC.fullmatch(line := content.decode("ascii", "replace").removesuffix("\n")):
            return line
        key = load_pem_public_key(content)
    except OSError as error:
        raise BadKey(f"{text!r} is neither a public key of 64 hex digits nor a file: {error.strerror}") from None
    except (ValueError, UnsupportedAlgorithm):
        raise BadKey(f"{text} holds no public key: neither 64 hex digits nor PEM") from None
    if not isinstance(key, Ed25519PublicKey):
        raise BadKey(f"{text} is no Ed25519 key")
    public = key.public_bytes_raw().hex()
    if content.decode("ascii", "replace") != public_pem(public):
        raise BadKey(f"{text} is not in the form that `referee key export` writes; use the organiser's file unchanged")
    return public
