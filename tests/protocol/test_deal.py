"""The deal proof: what the referee reveals must fit its commitments and the player's nonce."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from protocol import ConnectionState, Role
from protocol.deal import KEPT, DealFinding, Witness, check_reveal
from protocol.messages import End, Message, Offer, Resumed, Reveal, Terms, Turn

from .situations import message_for, pair_in
from .tables import COMMITMENTS, END, FOUL_HEAD, HEAD, LAST_HEAD, MATCH, NONCES, OFFER, SEED, VIEW, Plain

OWN, OTHER = NONCES
THIRD = "f" * 32
COMMITMENT = OFFER["commitment"]
WRONG_SEED = "11" * 32
DIGEST = "02d449a31fbb267c8f352e9968a79e3e5fc95c1bbeaa502fd6454ebde5a4bedc"
"""SHA-256 of the wrong seed."""
VOID: Plain = {"void": "the organiser stopped the referee", "winners": [], "ranking": []}
FIXED: Plain = {"nonces": False}
USED = ("a fixed deal without nonces", "a nonce")
BACK: Plain = {"type": "resumed", "turn": 1, "view": VIEW}
"""Fields that turn an offer into the message that takes the player back."""

ROWS: tuple[tuple[str, str | None, Plain, Plain, DealFinding, str, str], ...] = (
    ("seed and nonces as given", OWN, {}, {}, DealFinding.KEPT, "", ""),
    ("in another seat", OTHER, {"seat": 1}, {}, DealFinding.KEPT, "", ""),
    ("another seat gave none", OWN, {}, {"nonces": [OWN, None]}, DealFinding.KEPT, "", ""),
    ("two seats gave the same", OWN, {}, {"nonces": [OWN, OWN]}, DealFinding.KEPT, "", ""),
    ("a void match", OWN, {}, VOID, DealFinding.KEPT, "", ""),
    ("a fixed deal", OWN, FIXED, {"nonces": [None, None]}, DealFinding.FIXED_DEAL, "", ""),
    ("a fixed deal, void", OWN, FIXED, {**VOID, "nonces": [None, None]}, DealFinding.FIXED_DEAL, "", ""),
    ("a fixed deal, taken back", None, {**BACK, **FIXED}, {"nonces": [None, None]}, DealFinding.FIXED_DEAL, "", ""),
    ("a fixed deal, its seed kept", OWN, FIXED, {"seed": None, "nonces": [None, None]}, DealFinding.KEPT_BACK, "", ""),
    ("no seed of a deal with nonces", OWN, {}, {"seed": None}, DealFinding.WITHHELD, COMMITMENT, "null"),
    ("no seed, void", OWN, {}, {**VOID, "seed": None}, DealFinding.WITHHELD, COMMITMENT, "null"),
    ("a nonce in a fixed deal, its seed kept", OWN, FIXED, {"seed": None}, DealFinding.NONCE_USED, *USED),
    ("taken back, and the own nonce is known", OWN, BACK, {}, DealFinding.KEPT, "", ""),
    ("taken back as another program", None, BACK, {}, DealFinding.NOT_KNOWN, "", ""),
    ("taken back as another program, void", None, BACK, VOID, DealFinding.NOT_KNOWN, "", ""),
    ("taken back, and void without nonces", None, BACK, {**VOID, "nonces": [None, None]}, DealFinding.NOT_USED, "", ""),
    ("void before anybody was ready", OWN, {}, {**VOID, "nonces": [None, None]}, DealFinding.NOT_USED, "", ""),
    ("void while another was ready", OWN, {}, {**VOID, "nonces": [None, OTHER]}, DealFinding.NOT_USED, "", ""),
    ("void before the own ready", None, {}, {**VOID, "nonces": [None, OTHER]}, DealFinding.NOT_USED, "", ""),
    ("another seed", OWN, {}, {"seed": WRONG_SEED}, DealFinding.WRONG_SEED, COMMITMENT, DIGEST),
    ("another seed, void", OWN, {}, {**VOID, "seed": WRONG_SEED}, DealFinding.WRONG_SEED, COMMITMENT, DIGEST),
    (
        "another seed of a fixed deal",
        OWN,
        FIXED,
        {"seed": WRONG_SEED, "nonces": [None, None]},
        DealFinding.WRONG_SEED,
        COMMITMENT,
        DIGEST,
    ),
    ("another commitment", OWN, {"commitment": DIGEST}, {}, DealFinding.WRONG_SEED, DIGEST, COMMITMENT),
    ("another nonce", OWN, {}, {"nonces": [THIRD, OTHER]}, DealFinding.WRONG_NONCE, OWN, THIRD),
    ("the nonces of two seats swapped", OWN, {}, {"nonces": [OTHER, OWN]}, DealFinding.WRONG_NONCE, OWN, OTHER),
    ("another nonce, void", OWN, {}, {**VOID, "nonces": [THIRD, None]}, DealFinding.WRONG_NONCE, OWN, THIRD),
    ("a nonce that nobody gave", None, {}, {}, DealFinding.WRONG_NONCE, "(none given)", OWN),
    ("another nonce, taken back", OWN, BACK, {"nonces": [THIRD, OTHER]}, DealFinding.WRONG_NONCE, OWN, THIRD),
    ("another seed, taken back", None, BACK, {"seed": WRONG_SEED}, DealFinding.WRONG_SEED, COMMITMENT, DIGEST),
    ("the own nonce alone left out", OWN, {}, {"nonces": [None, OTHER]}, DealFinding.NONCE_LEFT_OUT, OWN, "null"),
    ("all nonces left out", OWN, {}, {"nonces": [None, None]}, DealFinding.NONCE_LEFT_OUT, OWN, "null"),
    ("left out, taken back", OWN, BACK, {"nonces": [None, OTHER]}, DealFinding.NONCE_LEFT_OUT, OWN, "null"),
    (
        "left out of an unknown one",
        None,
        BACK,
        {"nonces": [None, OTHER]},
        DealFinding.NONCE_LEFT_OUT,
        "(not known)",
        "null",
    ),
    ("all nonces in a fixed deal", OWN, FIXED, {}, DealFinding.NONCE_USED, *USED),
    ("the own nonce in a fixed deal", OWN, FIXED, {"nonces": [OWN, None]}, DealFinding.NONCE_USED, *USED),
    ("another's nonce in a fixed deal", OWN, FIXED, {"nonces": [None, OTHER]}, DealFinding.NONCE_USED, *USED),
    ("a nonce in a fixed deal, void", OWN, FIXED, {**VOID, "nonces": [None, OTHER]}, DealFinding.NONCE_USED, *USED),
    ("a nonce in a fixed deal, taken back", None, {**BACK, **FIXED}, {}, DealFinding.NONCE_USED, *USED),
    ("a seat without a nonce too few", OWN, {}, {"nonces": [OWN]}, DealFinding.WRONG_SEATS, "seat 0 of 2", "1 nonces"),
    ("no nonces at all", OWN, {}, {"nonces": []}, DealFinding.WRONG_SEATS, "seat 0 of 2", "0 nonces"),
    ("a seat too many", OWN, {}, {"nonces": [OWN, OTHER, None]}, DealFinding.WRONG_SEATS, "seat 0 of 2", "3 nonces"),
    (
        "a seat too few in a fixed deal",
        OWN,
        FIXED,
        {"nonces": [None]},
        DealFinding.WRONG_SEATS,
        "seat 0 of 2",
        "1 nonces",
    ),
    ("no nonces, taken back", None, BACK, {"nonces": []}, DealFinding.WRONG_SEATS, "seat 0 of 2", "0 nonces"),
    ("an offer of a seat that is not there", OWN, {"seat": 2}, {}, DealFinding.WRONG_SEATS, "seat 2 of 2", "2 nonces"),
)
"""(case, own nonce, changes of the offer, changes of the end, finding, expected, present)."""


def offer_with(**changes: Any) -> Terms:
    """Return the offer of the tables with some values changed."""
    return msgspec.convert({**OFFER, **changes}, Offer | Resumed)


def back_with(**changes: Any) -> Terms:
    """Return the message that takes the player back into the match of that offer, with some changes."""
    return offer_with(**BACK, **changes)


def end_with(**changes: Any) -> End:
    """Return the end of the tables with some values changed."""
    return msgspec.convert({**END, **changes}, End)


@pytest.mark.parametrize(
    ("nonce", "offer", "end", "finding", "expected", "found"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_reveal_is_judged(
    nonce: str | None, offer: Plain, end: Plain, finding: DealFinding, expected: str, found: str
) -> None:
    """Each reveal has its finding, with the expected and the present value, and a text with both."""
    verdict = check_reveal(offer_with(**offer), nonce, end_with(**end))
    assert (finding, expected, found) == (verdict.finding, verdict.expected, verdict.found)
    assert (finding in KEPT) is verdict.is_kept
    assert expected in verdict.text
    assert found in verdict.text or finding in (DealFinding.NONCE_LEFT_OUT, DealFinding.WITHHELD)


OPENINGS: tuple[tuple[str, list[str | None], Plain, DealFinding], ...] = (
    ("as committed to", COMMITMENTS, {}, DealFinding.KEPT),
    ("another seat did not open", COMMITMENTS, {"nonces": [OWN, None]}, DealFinding.KEPT),
    ("another seat was out", [COMMITMENTS[0], None], {"nonces": [OWN, None]}, DealFinding.KEPT),
    ("another nonce of another seat", COMMITMENTS, {"nonces": [OWN, THIRD]}, DealFinding.WRONG_OPENING),
    ("the own nonce at another seat, too", COMMITMENTS, {"nonces": [OWN, OWN]}, DealFinding.WRONG_OPENING),
    ("a commitment taken over, and opened", COMMITMENTS[:1] * 2, {"nonces": [OWN, OWN]}, DealFinding.WRONG_OPENING),
    ("a nonce of who was out", [COMMITMENTS[0], None], {}, DealFinding.WRONG_OPENING),
    ("another commitment than the own", [COMMITMENTS[1]] * 2, {}, DealFinding.WRONG_OPENING),
    ("another nonce of another seat, void", COMMITMENTS, {**VOID, "nonces": [None, THIRD]}, DealFinding.WRONG_OPENING),
    ("another nonce than the own", COMMITMENTS, {"nonces": [THIRD, OTHER]}, DealFinding.WRONG_NONCE),
    ("too few commitments", COMMITMENTS[:1], {}, DealFinding.WRONG_SEATS),
)
"""(case, the sent commitments, changes of the end, finding)."""


@pytest.mark.parametrize(
    ("commitments", "end", "finding"), [row[1:] for row in OPENINGS], ids=[row[0] for row in OPENINGS]
)
def test_every_nonce_must_open_its_commitment(commitments: list[str | None], end: Plain, finding: DealFinding) -> None:
    """`reveal` comes before any nonce is known to others, and binds all nonces in the end."""
    assert check_reveal(offer_with(), OWN, end_with(**end), commitments).finding is finding


def test_an_offer_made_again_begins_with_new_nonces_and_the_old_seed() -> None:
    """The seed of the first offer stays promised; commitments and nonces are the last ones."""
    again = [message_for("reveal"), message_for("nonce"), offer_with(commitment="0" * 64)]
    witness = witness_of(offer_with(), *again)
    assert (witness.nonce, witness.commitments) == (None, None)
    for message in (message_for("reveal"), message_for("nonce"), end_with()):
        witness.see(message)
    assert witness.verdict is not None
    assert witness.verdict.finding is DealFinding.KEPT


def test_the_first_commitments_count() -> None:
    """The first `reveal` counts, even if another one comes after a broken connection."""
    other = Reveal(match=MATCH, commitments=[COMMITMENTS[0], None])
    witness = witness_of(offer_with(), message_for("reveal"), other, message_for("nonce"), end_with())
    assert witness.verdict is not None
    assert witness.verdict.finding is DealFinding.KEPT


def test_every_finding_is_provoked() -> None:
    """The tables know every finding."""
    assert set(DealFinding) == {row[4] for row in ROWS} | {row[3] for row in OPENINGS}


@pytest.mark.parametrize("byte", range(32))
def test_every_byte_of_the_seed_counts(byte: int) -> None:
    """A seed with one changed bit contradicts the commitment."""
    seed = bytearray(SEED)
    seed[byte] ^= 1
    assert check_reveal(offer_with(), OWN, end_with(seed=seed.hex())).finding is DealFinding.WRONG_SEED


@pytest.mark.parametrize("digit", range(32))
def test_every_digit_of_the_nonce_counts(digit: int) -> None:
    """A nonce with one changed digit is another one."""
    changed = OWN[:digit] + ("1" if OWN[digit] == "0" else "0") + OWN[digit + 1 :]
    assert check_reveal(offer_with(), OWN, end_with(nonces=[changed, OTHER])).finding is DealFinding.WRONG_NONCE


def witness_of(*messages: Message) -> Witness:
    """Return a witness that has seen messages."""
    witness = Witness()
    for message in messages:
        witness.see(message)
    return witness


def turn_with(head: str) -> Message:
    """Return a turn with a head."""
    turn = message_for("turn")
    assert isinstance(turn, Turn)
    return replace(turn, head=head)


ONE, TWO = "1" * 64, "2" * 64
HEADS: tuple[tuple[tuple[Message, ...], list[str]], ...] = (
    ((), []),
    ((offer_with(), message_for("nonce"), message_for("start"), message_for("told")), []),
    ((offer_with(), turn_with(ONE)), [ONE]),
    ((offer_with(), turn_with(ONE), message_for("move"), turn_with(TWO), message_for("told")), [ONE, TWO]),
    ((offer_with(), turn_with(ONE), message_for("expelled")), [ONE, FOUL_HEAD]),
    ((offer_with(), message_for("nonce"), turn_with(ONE), end_with()), [ONE, HEAD]),
    ((offer_with(), message_for("nonce"), end_with(ack=3), end_with(head=LAST_HEAD)), [HEAD, LAST_HEAD]),
    ((offer_with(), message_for("nonce"), end_with(), offer_with(match="q-2")), []),
    ((offer_with(), turn_with(ONE), message_for("paused"), back_with()), [ONE, HEAD]),
    ((offer_with(), turn_with(ONE), back_with(), turn_with(TWO)), [ONE, TWO]),
    ((offer_with(), turn_with(ONE), back_with(match="q-2")), []),
    ((back_with(), turn_with(ONE)), [ONE]),
)
"""(the messages, the stored heads)."""


@pytest.mark.parametrize(("seen", "heads"), HEADS)
def test_all_heads_are_remembered(seen: tuple[Message, ...], heads: list[str]) -> None:
    """They are those of the last offered match, from any message."""
    assert heads == witness_of(*seen).heads


ENDS: tuple[tuple[tuple[End, ...], DealFinding | None], ...] = (
    ((), None),
    ((end_with(),), DealFinding.KEPT),
    ((end_with(), end_with(**VOID)), DealFinding.KEPT),
    ((end_with(), end_with(**VOID, seed=WRONG_SEED)), DealFinding.WRONG_SEED),
    ((end_with(seed=WRONG_SEED), end_with(**VOID)), DealFinding.WRONG_SEED),
)
"""(the ends of one match, the finding that stays)."""


@pytest.mark.parametrize(("ends", "finding"), ENDS)
def test_a_breach_stays(ends: tuple[End, ...], finding: DealFinding | None) -> None:
    """A second end of the same match can add a breach, but not take one back."""
    verdict = witness_of(offer_with(), message_for("nonce"), *ends).verdict
    assert finding == (verdict and verdict.finding)


def test_a_new_offer_begins_anew() -> None:
    """Neither finding nor nonce of the last match counts in the next one."""
    seen = [offer_with(), message_for("nonce"), end_with(seed=WRONG_SEED), offer_with(match="q-2")]
    assert witness_of(*seen).verdict is None
    verdict = witness_of(*seen, end_with(match="q-2", nonces=[None, None], **VOID)).verdict
    assert verdict is not None
    assert verdict.finding is DealFinding.NOT_USED


BACK_IN: tuple[tuple[str, tuple[Message, ...], DealFinding], ...] = (
    ("with the nonce given", (offer_with(), message_for("nonce"), back_with(), end_with()), DealFinding.KEPT),
    ("as another program", (back_with(), end_with()), DealFinding.NOT_KNOWN),
    ("twice", (offer_with(), message_for("nonce"), back_with(), back_with(), end_with()), DealFinding.KEPT),
    ("twice as another program", (back_with(), back_with(), end_with()), DealFinding.NOT_KNOWN),
    (
        "into another match",
        (offer_with(), message_for("nonce"), back_with(match="q-2"), end_with(match="q-2")),
        DealFinding.NOT_KNOWN,
    ),
    (
        "with another commitment",
        (offer_with(), message_for("nonce"), back_with(commitment=DIGEST), end_with(seed=WRONG_SEED)),
        DealFinding.WRONG_SEED,
    ),
    (
        "with another commitment, as another program",
        (back_with(), back_with(commitment=DIGEST), end_with(seed=WRONG_SEED)),
        DealFinding.WRONG_SEED,
    ),
    (
        "into a fixed deal that was none",
        (offer_with(), message_for("nonce"), back_with(nonces=False), end_with(nonces=[None, None])),
        DealFinding.NONCE_LEFT_OUT,
    ),
    (
        "into another seat",
        (offer_with(), message_for("nonce"), back_with(seat=1), end_with(nonces=[OTHER, OWN])),
        DealFinding.WRONG_NONCE,
    ),
    (
        "after a breach",
        (offer_with(), message_for("nonce"), end_with(seed=WRONG_SEED), back_with(), end_with()),
        DealFinding.WRONG_SEED,
    ),
    (
        "after a new offer",
        (offer_with(), back_with(), offer_with(), message_for("nonce"), end_with()),
        DealFinding.KEPT,
    ),
)
"""(how the player was taken back, the messages, finding)."""


@pytest.mark.parametrize(("seen", "finding"), [row[1:] for row in BACK_IN], ids=[row[0] for row in BACK_IN])
def test_coming_back_changes_no_promise(seen: tuple[Message, ...], finding: DealFinding) -> None:
    """A player that is taken back holds the referee to its first offer."""
    verdict = witness_of(*seen).verdict
    assert verdict is not None
    assert finding is verdict.finding


@pytest.mark.parametrize(
    "state", [ConnectionState.OFFERED, ConnectionState.SEATED, ConnectionState.ASKED, ConnectionState.TO_CONFIRM]
)
def test_an_end_is_judged_wherever_it_may_come(state: ConnectionState) -> None:
    """The void end of a match is judged in any state of the match."""
    pair, witness = pair_in(state), witness_of(offer_with(), message_for("nonce"))
    for message in pair.send(Role.REFEREE, end_with(**VOID, nonces=[None, None])):
        witness.see(message)
    assert witness.verdict is not None
    assert witness.verdict.is_kept
