"""Perfect matchings of least cost.

It is exact, by J. Edmonds' blossoms. rustworkx does it since it is some seventy times as fast as networkx: for 200
nodes that all know each other 0.3 s, where a round of a Swiss tournament must not hold up anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import prod
from operator import mul

import rustworkx

Edge = tuple[int, int]
Costs = tuple[int, ...]
"""From 0; less of an earlier layer is worth any amount of the later ones."""

_MOST_BITS = 126
"""Of the solver's integers, which have a sign and are doubled on the way."""
_TIE_BITS = 10
"""At most, of what tells equally good matchings apart."""


def cheapest_matching(nodes: int, costs: Mapping[Edge, Costs]) -> list[Edge]:
    """Pair off as many nodes as possible at the least cost: the sum over all pairs, layer by layer.

    Args:
        nodes: how many, an even number.
        costs: by edge, all with as many layers. Layers that do not fit into the solver's integers are left out from
            the last one on; in a Swiss round that takes some thousand nodes.

    Returns:
        The pairs, sorted, each as it stands among the costs.
    """
    layers = zip(*costs.values(), strict=True)
    widths = _fitting([_largest_sum(costs, layer, nodes // 2) + 1 for layer in layers])
    ties = max(0, min(_MOST_BITS - prod(widths).bit_length() - nodes.bit_length(), _TIE_BITS))
    shift = ties + nodes.bit_length() if ties else 0
    weighted = [
        (one, two, (_weight(layers, widths) << shift) + _tie(one, two, ties))
        for (one, two), layers in sorted(costs.items())
    ]
    most = max((weight for _, _, weight in weighted), default=0)
    graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from([(one, two, most - weight) for one, two, weight in weighted])
    found = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((one, two) if (one, two) in costs else (two, one) for one, two in found)


def _fitting(widths: list[int]) -> list[int]:
    """Return as many of the first widths as fit together."""
    products = accumulate(widths, mul)
    return [width for width, product in zip(widths, products, strict=True) if product.bit_length() <= _MOST_BITS]


def _largest_sum(edges: Iterable[Edge], layer: Sequence[int], pairs: int) -> int:
    """Return what the costs of a layer can't exceed in a matching; pairs that share a node are not both in it."""
    shared: set[int] | None = None
    for edge, cost in zip(edges, layer, strict=True):
        if cost:
            shared = set(edge) if shared is None else shared.intersection(edge)
            if not shared:
                return max(layer) * pairs
    return max(layer, default=0)


def _weight(layers: Costs, widths: list[int]) -> int:
    """Return the layers that fit in one number."""
    weight = 0
    for cost, width in zip(layers, widths, strict=False):
        weight = weight * width + cost
    return weight


def _tie(one: int, two: int, bits: int) -> int:
    """Return what tells an edge from others that are as good.

    Between matchings that tie in it, too, the solver's own order decides, which is that of the edges.
    """
    return (one * 2654435761 ^ two * 2246822519) * 3266489917 >> 15 & (1 << bits) - 1
