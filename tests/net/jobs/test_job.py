"""A match as a job: the same bytes for the same match, and no key in them."""

import msgspec
import pytest
from msgspec.structs import replace

from referee import chance
from referee.net.jobs.job import KeylessSealer, MatchJob, decode_job, encode_job, rules_digest
from referee.record.key import Sealer

from .making import LAUNCH, SEALER, SEED, job_of

JOBS = [
    job_of(),
    job_of(LAUNCH, None),
    job_of(drawn=None, deal=SEED, is_last_of_deal=False),
    job_of(number=5, drawn=None),
]


@pytest.mark.parametrize("job", JOBS)
def test_a_job_is_bytes(job: MatchJob) -> None:
    """Always the same ones for the same job, whatever the order of its options; what is read back is the job."""
    options = {"b": 1, "a": [2]}
    one, other = (
        replace(job, terms=replace(job.terms, options=dict(pairs))) for pairs in (options.items(), options.items())
    )
    turned = replace(job, terms=replace(job.terms, options=dict(reversed(options.items()))))
    assert encode_job(one) == encode_job(other) == encode_job(turned)
    assert decode_job(encode_job(turned)) == turned


@pytest.mark.parametrize("data", [b"", b"\x80", encode_job(JOBS[0])[:-1], msgspec.msgpack.encode({"more": 1})])
def test_other_bytes_are_none(data: bytes) -> None:
    """They are refused, and nothing of them is run."""
    with pytest.raises(msgspec.DecodeError):
        decode_job(data)


@pytest.mark.parametrize("job", JOBS)
def test_setup_and_seed_follow_from_the_job(job: MatchJob) -> None:
    """The setup commits to the seed; only a seed that nobody may choose lets the players' nonces in."""
    assert job.setup.commitment == chance.commitment(job.seed)
    assert job.setup.names == ("e0", "e1")
    assert job.setup.nonces == (job.drawn is not None)
    assert (job.setup.seed_opens == "after-last-leg") == (not job.is_last_of_deal)


def test_a_job_has_its_share_of_the_key_and_no_more() -> None:
    """Tokens and locked seed are those of the key, which itself is not there: nothing can be signed."""
    job, sealer = job_of(), KeylessSealer(job_of())
    commitment = chance.commitment(SEED)
    assert [sealer.token(job.match, commitment, seat) for seat in (0, 1)] == [
        SEALER.token(job.match, commitment, seat) for seat in (0, 1)
    ]
    assert SEALER.unlock(KeylessSealer(job).lock(SEED, commitment), commitment) == SEED
    assert (sealer.can_sign, Sealer.can_sign) == (False, True)
    with pytest.raises(AttributeError):
        sealer.sign("any purpose", "0" * 64)


def test_each_game_has_rules_of_its_own() -> None:
    """Their digest is that of the game's files."""
    assert len({rules_digest(game) for game in ("q", "quincy", "quincala", "quadominos")}) == 4
    assert len(bytes.fromhex(rules_digest("q"))) == 32
