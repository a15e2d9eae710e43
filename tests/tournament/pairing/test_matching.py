"""Matchings of least cost, compared with all possible matchings."""

from collections.abc import Iterator
from random import Random

import pytest

from referee.tournament.pairing.dutch import Costs, Edge, cheapest_matching


def every_matching(nodes: tuple[int, ...]) -> Iterator[list[Edge]]:
    """Yield all ways to pair off some nodes."""
    if not nodes:
        yield []
        return
    first, *others = nodes
    for other in others:
        rest = tuple(node for node in others if node != other)
        yield from ([(first, other), *pairs] for pairs in every_matching(rest))


@pytest.mark.parametrize("seed", range(60))
def test_no_matching_is_cheaper(seed: int) -> None:
    """Layer by layer, the sum is the least of all, even if edges are missing."""
    source = Random(seed)
    nodes = source.choice([2, 4, 6, 8])
    costs: dict[Edge, Costs] = {
        (number, two): (source.randrange(2), source.randrange(50), source.randrange(1000))
        for number in range(nodes)
        for two in range(number + 1, nodes)
        if two == number + 1 or source.random() < 0.8
    }
    possible = [found for found in every_matching(tuple(range(nodes))) if all(edge in costs for edge in found)]
    best = min(tuple(map(sum, zip(*(costs[edge] for edge in found), strict=True))) for found in possible)
    found = cheapest_matching(nodes, costs)
    assert nodes // 2 == len(found)
    assert best == tuple(map(sum, zip(*(costs[edge] for edge in found), strict=True)))


def test_the_order_of_the_edges_does_not_count() -> None:
    """Between equally good matchings the choice is always the same."""
    costs: dict[Edge, Costs] = {(number, two): (0,) for number in range(20) for two in range(number + 1, 20)}
    turned = dict(reversed(costs.items()))
    assert cheapest_matching(20, costs) == cheapest_matching(20, turned)


def test_costs_of_the_largest_field_fit() -> None:
    """With the greatest costs of each layer in a Swiss round of a thousand, the solver's integers do not overflow."""
    most: Costs = (255, 255, 255, 1, 31 * 31, 1)
    costs: dict[Edge, Costs] = {(number, number + 1): most for number in range(999)}
    costs |= {(0, 999): most, (1, 3): (0,) * 6}
    found = cheapest_matching(1000, costs)
    assert len(found) == 500
    assert {costs[edge] for edge in found} == {most}
