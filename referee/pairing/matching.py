"""Perfect matchings of least cost. Knows a graph with costs in layers; refuses to know what its nodes are.

It is exact, by J. Edmonds' blossoms. rustworkx does it since it is some seventy times as fast as networkx: for 200
nodes that all know each other 0.3 s, where a round of a Swiss tournament must not hold up anything.
"""

from collections.abc import Mapping

import rustworkx

Edge = tuple[int, int]
Costs = tuple[int, ...]
"""From 0; less of an earlier layer is worth any amount of the later ones."""

_TIE_BITS = 10
_TIE_SUM_BITS = 10
"""More, for the sum over 500 pairs. With all layers of a Swiss round of 1000 that stays below 126 of 127 bits."""


def cheapest_matching(nodes: int, costs: Mapping[Edge, Costs]) -> list[Edge]:
    """Pair off as many nodes as possible at the least cost: the sum over all pairs, layer by layer.

    Args:
        nodes: how many, an even number; at most 1000, or the costs of all layers do not fit into the solver's integers.
        costs: by edge, all with as many layers.

    Returns:
        The pairs, sorted, each as it stands among the costs.
    """
    widths = [max(layer) * (nodes // 2) + 1 for layer in zip(*costs.values(), strict=True)]
    weighted = [(one, two, _weight(one, two, layers, widths)) for (one, two), layers in sorted(costs.items())]
    most = max((weight for _, _, weight in weighted), default=0)
    graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from([(one, two, most - weight) for one, two, weight in weighted])
    found = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    return sorted((one, two) if (one, two) in costs else (two, one) for one, two in found)


def _weight(one: int, two: int, layers: Costs, widths: list[int]) -> int:
    """Return all layers in one number, and behind them one that tells equally good matchings apart.

    Between those left that tie in it, too, the solver's own order decides, which is that of the edges.
    """
    weight = 0
    for cost, width in zip(layers, widths, strict=True):
        weight = weight * width + cost
    tie = (one * 2654435761 ^ two * 2246822519) * 3266489917 >> 15 & (1 << _TIE_BITS) - 1
    return (weight << _TIE_BITS + _TIE_SUM_BITS) + tie
