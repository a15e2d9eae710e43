"""The referee's key: signs the end of a record, and locks away the seed of a running match.

What is signed is a text that begins with its purpose, so that no signature can be used for anything else.
"""

import hmac
import os
from typing import Self

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

RECORD_PURPOSE = "referee record 1"
MANIFEST_PURPOSE = "referee manifest 1"
_NONCE_BYTES = 12
_LOCK_INFO = b"referee seed of a running match"
_TOKEN_INFO = b"referee tokens to come back with"
_SECRET_INFO = b"referee secret of a tournament"


class WrongKey(Exception):
    """What was locked was locked with another key, or is damaged."""


class Sealer:
    """One referee's private key.

    Args:
        key: the key.
    """

    can_sign = True
    """False: whoever has the key seals what is written here."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = key.public_key().public_bytes_raw().hex()
        """The public key: 32 bytes in hex."""
        self._cipher = ChaCha20Poly1305(self._derived(_LOCK_INFO))
        self._token_key = self._derived(_TOKEN_INFO)
        self._secret_key = self._derived(_SECRET_INFO)

    def _derived(self, info: bytes) -> bytes:
        return HKDF(SHA256(), 32, None, info).derive(self._key.private_bytes_raw())

    @classmethod
    def new(cls) -> Self:
        """Make a new key."""
        return cls(Ed25519PrivateKey.generate())

    def sign(self, purpose: str, digest: str) -> str:
        """Return the signature of a digest for a purpose: 64 bytes in hex."""
        return self._key.sign(_text(purpose, digest)).hex()

    def lock(self, secret: bytes, context: str) -> str:
        """Encrypt a secret so that only this key opens it, in this context only.

        Returns:
            Nonce and ciphertext in hex.
        """
        nonce = os.urandom(_NONCE_BYTES)
        return (nonce + self._cipher.encrypt(nonce, secret, context.encode())).hex()

    def token(self, match: str, commitment: str, seat: int) -> str:
        """Derive the token by which a seat's player identifies itself when it comes back.

        It follows from this key alone: no seed that is revealed, and no player, tells of another seat's.

        Args:
            match: the match's name.
            commitment: to its seed.
            seat: whose.

        Returns:
            64 hex digits; whoever takes up the match with this key can derive them again.
        """
        return hmac.digest(self._token_key, f"{match} {commitment} {seat}".encode(), "sha256").hex()

    def secret(self, salt: str) -> bytes:
        """Derive the secret from which the seeds of a tournament's matches follow.

        Args:
            salt: the tournament's, chosen at random; another one gives another secret.

        Returns:
            32 bytes; whoever takes up the tournament with this key can derive them again.
        """
        return hmac.digest(self._secret_key, salt.encode(), "sha256")

    def unlock(self, locked: str, context: str) -> bytes:
        """Decrypt what `lock` returned.

        Raises:
            WrongKey: it was locked with another key or for another context, or it is damaged.
        """
        try:
            data = bytes.fromhex(locked)
            return self._cipher.decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], context.encode())
        except (InvalidTag, ValueError):
            raise WrongKey("not locked with this key") from None


def is_signed(public: str, purpose: str, digest: str, signature: str) -> bool:
    """Tell whether a signature is the one of a public key for a digest and a purpose.

    Args:
        public: 32 bytes in hex.
        purpose: what was signed for.
        digest: what was signed.
        signature: 64 bytes in hex.
    """
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), _text(purpose, digest))
    except (InvalidSignature, ValueError):
        return False
    return True


def _text(purpose: str, digest: str) -> bytes:
    return f"{purpose}\n{digest}".encode()
