"""Pairs a round."""

from .base import RoundToPair


def pair_round(request: RoundToPair) -> tuple[tuple[tuple[int, ...], ...], str]:
    """Pair a round."""
    raise NotImplementedError
