"""A part of the fuzzing of conversations; `python -m tests.benchmarks fuzz` runs without end."""

import tracemalloc
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .fuzzing import Fuzzer

ROUNDS = 1000
MAX_GROWTH_BYTES = 4 * 1024 * 1024
"""Memory that conversations leave behind, such as caches."""


@pytest.mark.parametrize("seed", range(3))
def test_hostile_streams_raise_nothing_else(seed: int) -> None:
    """In every role and state, bytes are taken, dropped or refused, and taken messages are those that were sent."""
    fuzzer = Fuzzer(Random(seed))
    for _ in range(ROUNDS):
        fuzzer.play()
    assert fuzzer.counts["taken"] > 0
    assert len(fuzzer.counts) > 12


@given(st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_a_stream_that_breaks_something_is_made_small(source: Random) -> None:
    """The same with Hypothesis, which simplifies a failing stream."""
    Fuzzer(source).play()


def test_hostile_streams_leave_nothing_behind() -> None:
    """Memory does not grow with the number of conversations."""
    fuzzer = Fuzzer(Random(4))
    for _ in range(ROUNDS // 4):
        fuzzer.play()
    tracemalloc.start()
    for _ in range(ROUNDS // 4):
        fuzzer.play()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left < MAX_GROWTH_BYTES
