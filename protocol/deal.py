"""What a player can hold the referee to: its commitment, the nonces of all players, the head of the record.

Knows what was promised in `offer` and `reveal`, given in `nonce` and revealed in `end`, and compares. Refuses to know
any game, and so to redo a deck: SPEC.md, "Chance", says how that is done in any language.
"""

import hashlib
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from .messages import End, Expelled, Message, Nonce, Offer, Paused, Resumed, Reveal, Terms, Turn


def nonce_commitment(match: str, seat: int, nonce: str) -> str:
    """Commit to a nonce without showing it.

    Match and seat are in it, so that nobody can take over the commitment of another and open it after them.

    Args:
        match: the match's name.
        seat: whose nonce it is.
        nonce: 16 bytes in hex.

    Returns:
        SHA-256 of `nonce:`, the match, `:`, the seat in decimal, `:` and the nonce's hex digits, in hex.
    """
    return hashlib.sha256(f"nonce:{match}:{seat}:{nonce}".encode()).hexdigest()


class DealFinding(StrEnum):
    """What a comparison of promise and reveal can come to; TEXTS says what each means."""

    KEPT = "kept"
    FIXED_DEAL = "fixed-deal"
    NOT_KNOWN = "not-known"
    NOT_USED = "not-used"
    KEPT_BACK = "kept-back"
    WRONG_SEED = "wrong-seed"
    WITHHELD = "withheld"
    WRONG_SEATS = "wrong-seats"
    WRONG_NONCE = "wrong-nonce"
    NONCE_LEFT_OUT = "nonce-left-out"
    NONCE_USED = "nonce-used"
    WRONG_OPENING = "wrong-opening"


KEPT = {
    DealFinding.KEPT: "your nonce entered the shuffle",
    DealFinding.FIXED_DEAL: "fixed deal: your nonce was not used",
    DealFinding.NOT_KNOWN: "your nonce is not known to this program",
    DealFinding.NOT_USED: "the match is void before your nonce was used",
    DealFinding.KEPT_BACK: "fixed deal: its seed is kept back, for another match with the same deal",
}
"""The findings that are no breach: the seed is the committed one."""
TEXTS = {
    **KEPT,
    DealFinding.WRONG_SEED: "it committed to {expected}, and the SHA-256 of the revealed seed is {found}",
    DealFinding.WITHHELD: "it committed to {expected}, and did not reveal its seed",
    DealFinding.WRONG_SEATS: "it offered {expected}, and revealed {found}",
    DealFinding.WRONG_NONCE: "your nonce is {expected}, and at your seat stands {found}",
    DealFinding.NONCE_LEFT_OUT: "your nonce {expected} was left out",
    DealFinding.NONCE_USED: "it offered {expected}, and revealed {found}",
    DealFinding.WRONG_OPENING: "a player committed to {expected}, and the SHA-256 of its revealed nonce is {found}",
}


class DealVerdict(Struct, frozen=True):
    """Whether the referee kept its commitment, with the evidence."""

    finding: DealFinding
    expected: str = ""
    """What had to stand there, if it does not."""
    found: str = ""
    """What stands there."""

    @property
    def is_kept(self) -> bool:
        """Whether the finding is no breach."""
        return self.finding in KEPT

    @property
    def text(self) -> str:
        """The finding as a part of a sentence, without a full stop."""
        return TEXTS[self.finding].format(expected=self.expected, found=self.found)


def check_reveal(
    offer: Terms, nonce: str | None, end: End, commitments: Sequence[str | None] | None = None
) -> DealVerdict:
    """Compare what the referee reveals with what it promised and with what the players gave.

    A null at the own seat is no breach in a void match, which may have ended before the `nonce` was read. Null at
    another seat is none either: who does not open its commitment is out.

    Args:
        offer: the match's offer, or the message that took the player back into it.
        nonce: what the player opened in `nonce`, 16 bytes in hex; None if it opened nothing yet.
        end: the end of that match, void or not.
        commitments: of all players by seat, as `reveal` told them; None if it told none yet.

    Returns:
        The first finding that is a breach; if there is none, how the player's nonce was used.
    """
    if end.seed is None and offer.nonces:
        return DealVerdict(DealFinding.WITHHELD, offer.commitment, "null")
    digest = offer.commitment if end.seed is None else hashlib.sha256(bytes.fromhex(end.seed)).hexdigest()
    if digest != offer.commitment:
        return DealVerdict(DealFinding.WRONG_SEED, offer.commitment, digest)
    seats = len(offer.names)
    if not offer.seat < seats == len(end.nonces):
        return DealVerdict(DealFinding.WRONG_SEATS, f"seat {offer.seat} of {seats}", f"{len(end.nonces)} nonces")
    if not offer.nonces:
        used = DealVerdict(DealFinding.NONCE_USED, "a fixed deal without nonces", "a nonce")
        found = DealFinding.KEPT_BACK if end.seed is None else DealFinding.FIXED_DEAL
        return used if any(end.nonces) else DealVerdict(found)
    verdict = _own_verdict(offer, nonce, end)
    wrong = _wrong_opening(offer.match, end.nonces, commitments) if verdict.is_kept else None
    return wrong or verdict


def _own_verdict(offer: Terms, nonce: str | None, end: End) -> DealVerdict:
    """Return the verdict on the nonce at the player's own seat."""
    is_unknown = nonce is None and isinstance(offer, Resumed)
    own, given = end.nonces[offer.seat], nonce or ("(not known)" if is_unknown else "(none given)")
    if own is None:
        left_out = DealVerdict(DealFinding.NONCE_LEFT_OUT, given, "null")
        return left_out if end.void is None else DealVerdict(DealFinding.NOT_USED)
    if is_unknown:
        return DealVerdict(DealFinding.NOT_KNOWN)
    return DealVerdict(DealFinding.KEPT) if own == nonce else DealVerdict(DealFinding.WRONG_NONCE, given, own)


def _wrong_opening(
    match: str, nonces: Sequence[str | None], commitments: Sequence[str | None] | None
) -> DealVerdict | None:
    """Return the verdict on the first nonce that does not open the commitment of its seat; None if there is none."""
    if commitments is None:
        return None
    if len(commitments) != len(nonces):
        return DealVerdict(DealFinding.WRONG_SEATS, f"commitments of {len(commitments)} seats", f"{len(nonces)} nonces")
    for seat, (nonce, committed) in enumerate(zip(nonces, commitments, strict=True)):
        digest = None if nonce is None else nonce_commitment(match, seat, nonce)
        if digest is not None and digest != committed:
            return DealVerdict(DealFinding.WRONG_OPENING, committed or "nothing", digest)
    return None


class Witness:
    """Remembers, of the match that was offered last, all that the referee can be held to.

    Who is taken back into that match holds the referee to what it promised before, not to what it says now.
    """

    def __init__(self) -> None:
        self.offer: Terms | None = None
        self.nonce: str | None = None
        """What the player opened in `nonce`."""
        self.commitments: list[str | None] | None = None
        """Of all players by seat, as the first `reveal` told them."""
        self.heads: list[str] = []
        """The heads of the record that were told, in order: hashes of lines, in hex, all of which it must have.

        The last one alone would not tell that lines before it were written anew during the match.
        """
        self.verdict: DealVerdict | None = None
        """None until an `end` came. A breach stays: no second `end` of the match mends it."""

    def see(self, message: Message) -> None:
        """Take note of a message that was sent or received.

        Args:
            message: one that the connection let pass: so an `end` is of the match that was offered last.
        """
        match message:
            case Resumed() if self._is_known(message.match):
                pass
            case Offer() if self._is_known(message.match) and self.verdict is None:
                self.nonce = self.commitments = None  # the nonces are drawn anew; the first promise stays
            case Offer() | Resumed():
                self.offer, self.nonce, self.commitments = message, None, None
                self.heads, self.verdict = [], None
            case Reveal() if self.commitments is None:
                self.commitments = message.commitments
            case Nonce():
                self.nonce = message.nonce
            case Turn() | Expelled() | Paused():
                self.heads.append(message.head)
            case End():
                assert self.offer is not None, "the connection lets no end come before an offer"
                self.heads.append(message.head)
                if self.verdict is None or self.verdict.is_kept:
                    self.verdict = check_reveal(self.offer, self.nonce, message, self.commitments)

    def _is_known(self, match: str) -> bool:
        return self.offer is not None and self.offer.match == match
