"""A match as a job: the same match gives the same bytes, without the key."""

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
    """The order of the options does not change the bytes, and reading them back gives the same job."""
    options = {"b": 1, "a": [2]}
    one, other = (
        replace(job, terms=replace(job.terms, options=dict(pairs))) for pairs in (options.items(), options.items())
    )
    turned = replace(job, terms=replace(job.terms, options=dict(reversed(options.items()))))
    assert encode_job(one) == encode_job(other) == encode_job(turned)
    assert decode_job(encode_job(turned)) == turned


@pytest.mark.parametrize("data", [b"", b"\x80", encode_job(JOBS[0])[:-1], msgspec.msgpack.encode({"more": 1})])
def test_other_bytes_are_none(data: bytes) -> None:
    """Other bytes are refused, and no code in them is executed."""
    with pytest.raises(msgspec.DecodeError):
        decode_job(data)


@pytest.mark.parametrize("job", JOBS)
def test_setup_and_seed_follow_from_the_job(job: MatchJob) -> None:
    """The setup commits to the seed. The players' nonces count only if nobody may choose the seed."""
    assert job.setup.commitment == chance.commitment(job.seed)
    assert job.setup.names == ("e0", "e1")
    assert job.setup.nonces == (job.drawn is not None)
    assert (job.setup.seed_opens == "after-last-leg") == (not job.is_last_of_deal)


def test_a_job_has_its_share_of_the_key_and_no_more() -> None:
    """Tokens and the locked seed were made with the key, but the key itself is not in the job."""
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
    """The digest covers the files of that game."""
    assert len({rules_digest(game) for game in ("q", "quincy", "quincala", "quadominos")}) == 4
    assert len(bytes.fromhex(rules_digest("q"))) == 32
