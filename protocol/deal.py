"""Checks the referee's promises to a player: its commitment, the nonces of all players, the heads of the record.

This module compares the promises of `offer` and `reveal` and the player's own `nonce` with what `end` reveals. It knows
no game, so it can't repeat the shuffle: SPEC.md, "Chance", says how to do that in any language.
"""

import hashlib
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from .messages import End, Expelled, Message, Nonce, Offer, Paused, Resumed, Reveal, Terms, Turn


# Why both sides commit first. If the referee alone chose the seed, it could try seeds until one favours a friend. If
# the players sent their nonces openly, the last player could do the same. So everybody first sends a hash, and opens it
# when all hashes are there. To change a value then, one would need a collision of SHA-256; any other change is found
# here.
def nonce_commitment(match: str, seat: int, nonce: str) -> str:
    """Commit to a nonce without showing it.

    Match and seat enter the hash, so that nobody can copy the commitment of another seat and open it later.

    Args:
        match: the match's name.
        seat: the seat that opens the nonce.
        nonce: 16 bytes in hex.

    Returns:
        SHA-256 of `nonce:`, the match, `:`, the seat in decimal, `:` and the nonce's hex digits, in hex.

    >>> nonce_commitment("q-1", 0, "00112233445566778899aabbccddeeff")
    'aa0b1155615b4b8e5a8cc2345d00e7f1cccfdb97f399d64a0163df86604c2704'
    """
    return hashlib.sha256(f"nonce:{match}:{seat}:{nonce}".encode()).hexdigest()


class DealFinding(StrEnum):
    """Result of comparing promise and reveal; TEXTS explains each."""

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
"""The findings that are not a breach: the referee has revealed, or keeps secret for now, the seed it committed to."""
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
    """Verdict on the referee's commitment, with the evidence.

    >>> verdict = DealVerdict(DealFinding.NONCE_LEFT_OUT, expected="00ff", found="null")
    >>> verdict.is_kept, verdict.text
    (False, 'your nonce 00ff was left out')
    """

    finding: DealFinding
    expected: str = ""
    """The value that the referee had promised, if it revealed another one."""
    found: str = ""
    """The value that was revealed."""

    @property
    def is_kept(self) -> bool:
        """Whether the referee has broken no promise."""
        return self.finding in KEPT

    @property
    def text(self) -> str:
        """The finding as a part of a sentence, without a full stop."""
        return TEXTS[self.finding].format(expected=self.expected, found=self.found)


def check_reveal(
    offer: Terms, nonce: str | None, end: End, commitments: Sequence[str | None] | None = None
) -> DealVerdict:
    """Compare the values that the referee reveals with its promises and with the players' nonces.

    A null at the player's own seat is allowed in a void match, which may have ended before the `nonce` was read. A null
    at another seat is always allowed: a player that does not open its commitment is out.

    Args:
        offer: the match's offer, or the message that took the player back into it.
        nonce: the nonce that the player opened, 16 bytes in hex; None if it opened none yet.
        end: the end of that match, void or not.
        commitments: the commitments by seat, as in `reveal`; None if no `reveal` came.

    Returns:
        The first breach; if there is none, the finding about the player's own nonce.

    >>> from protocol.messages import TimeControl
    >>> seed = bytes(32)
    >>> time = TimeControl(per_move_ms=6000.0, start_ms=30000.0, bank_ms=None, increment_ms=0.0)
    >>> offer = Offer(match="q-1", game="q", options={}, seat=0, names=["ada", "bob"], time=time, teams=[], lot=False,
    ...     acknowledge=False, commitment=hashlib.sha256(seed).hexdigest(), nonces=True, resume="00")
    >>> end = End(match="q-1", winners=[0], ranking=[[0], [1]], scores=[46, 13], void=None, seed=seed.hex(),
    ...     nonces=["00" * 16, None], head="00" * 32)
    >>> check_reveal(offer, "00" * 16, end).text
    'your nonce entered the shuffle'
    >>> check_reveal(offer, "ff" * 16, end).is_kept
    False
    """
    # The order matters: each check relies on the ones before it, such as that of the number of seats.
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
        finding = DealFinding.KEPT_BACK if end.seed is None else DealFinding.FIXED_DEAL
        return used if any(end.nonces) else DealVerdict(finding)
    verdict = _judge_own_nonce(offer, nonce, end)
    wrong = _find_wrong_opening(offer.match, end.nonces, commitments) if verdict.is_kept else None
    return wrong or verdict


def _judge_own_nonce(offer: Terms, nonce: str | None, end: End) -> DealVerdict:
    """Return the verdict on the nonce at the player's own seat."""
    is_unknown = nonce is None and isinstance(offer, Resumed)
    revealed, given = end.nonces[offer.seat], nonce or ("(not known)" if is_unknown else "(none given)")
    if revealed is None:
        left_out = DealVerdict(DealFinding.NONCE_LEFT_OUT, given, "null")
        return left_out if end.void is None else DealVerdict(DealFinding.NOT_USED)
    if is_unknown:
        return DealVerdict(DealFinding.NOT_KNOWN)
    return DealVerdict(DealFinding.KEPT) if revealed == nonce else DealVerdict(DealFinding.WRONG_NONCE, given, revealed)


def _find_wrong_opening(
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
    """Remembers the referee's promises in the latest match.

    A player that is taken back into that match checks the earlier promises, not those of `resumed`: otherwise a referee
    could break the connection to make other promises.

    >>> witness = Witness()
    >>> witness.see(Nonce(match="q-1", nonce="00112233445566778899aabbccddeeff"))
    >>> witness.nonce, witness.verdict
    ('00112233445566778899aabbccddeeff', None)
    """

    def __init__(self) -> None:
        self.offer: Terms | None = None
        self.nonce: str | None = None
        """The nonce that the player opened."""
        self.commitments: list[str | None] | None = None
        """The commitments by seat, as in the first `reveal`."""
        self.heads: list[str] = []
        """The heads of the record in order of arrival: hashes of lines, in hex, which the record must all have.

        The last head alone would not show that earlier lines were rewritten during the match.
        """
        self.verdict: DealVerdict | None = None
        """None until an `end` came. A breach stays, even if a second `end` of the match comes."""

    def see(self, message: Message) -> None:
        """Note a message that was sent or received.

        Args:
            message: a message that the connection has accepted; so an `end` belongs to the latest match.
        """
        match message:
            case Resumed() if self._is_known(message.match):
                pass
            case Offer() if self._is_known(message.match) and self.verdict is None:
                self.nonce = self.commitments = None  # the players draw new nonces; the first promise stays
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
