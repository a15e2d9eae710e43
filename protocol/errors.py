"""Errors of the protocol: their type says which side is at fault.

LocalProtocolError is a bug on this side, RemoteProtocolError a mistake of the peer. The split is h11's. So a referee
never blames a player for its own bug: only a RemoteProtocolError may lead to a foul. The consequences are decided
elsewhere, by the match (a foul) or by the client (it gives up).
"""

from enum import StrEnum


class Code(StrEnum):
    """Every way in which received bytes or a received message can be wrong."""

    # The order is that of the checks: frame, value, message, and whether the message may come now. SPEC.md, "Codes",
    # has the same order. Every implementation that checks in this order finds the same code.
    OVERSIZE = "oversize"
    """The length prefix of a frame announces more than the limit."""
    EMPTY = "empty"
    """A frame of length 0."""
    TRUNCATED = "truncated"
    """The connection ended in the middle of a frame."""
    NOT_MSGPACK = "not-msgpack"
    """The frame's body is not exactly one msgpack value (invalid UTF-8 included)."""
    KEY_NOT_STRING = "key-not-string"
    """A map has a key that is not a string."""
    DUPLICATE_KEY = "duplicate-key"
    """A map has the same key twice."""
    TYPE_NOT_ALLOWED = "type-not-allowed"
    """An ext type, a timestamp or raw bytes."""
    NOT_FINITE = "not-finite"
    """A float that is NaN or infinite."""
    TOO_DEEP = "too-deep"
    """Arrays and maps nested deeper than the limit."""
    TOO_LONG = "too-long"
    """A string, array or map longer than the limit."""
    NOT_A_MAP = "not-a-map"
    """The value is not a map."""
    UNKNOWN_TYPE = "unknown-type"
    """`type` is missing, not a string, or no message of the sender's role has that name."""
    MISSING_KEY = "missing-key"
    """The message lacks a key that it must have."""
    EXTRA_KEY = "extra-key"
    """The message has a key that it may not have."""
    WRONG_TYPE = "wrong-type"
    """The value of a key has the wrong type or is out of its range."""
    WRONG_MATCH = "wrong-match"
    """The message names another match than the one being played."""
    FLOOD = "flood"
    """A frame that was not asked for announces more than the limit of such frames."""
    NOT_READING = "not-reading"
    """The peer leaves more than the limit unread."""
    OUT_OF_TURN = "out-of-turn"
    """A well-formed message came that was not asked for."""


class ProtocolError(Exception):
    """Base class of the two errors; it is never raised itself."""


class LocalProtocolError(ProtocolError):
    """This side tried to send a message that it may not send now: a bug on this side, never the peer's fault."""


class RemoteProtocolError(ProtocolError):
    r"""The peer sent bytes or a message that it may not send.

    >>> error = RemoteProtocolError(Code.EMPTY, "a frame has no body", bytes(4))
    >>> str(error), error.code, error.evidence
    ('empty: a frame has no body', <Code.EMPTY: 'empty'>, b'\x00\x00\x00\x00')

    Args:
        code: the broken rule: a Code, or the code of another protocol for an error that no Code describes.
        detail: one sentence for a human reader.
        evidence: the offending bytes, as far as they were read: a body, or a frame with its prefix if the prefix is
            wrong.
    """

    def __init__(self, code: StrEnum, detail: str, evidence: bytes = b"") -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.evidence = evidence
