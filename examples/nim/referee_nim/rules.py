"""The rules of Nim as verdicts name them."""

from referee.games.base import Rule

_SOURCE = "Nim, normal play"

RULES = {
    rule.id: rule
    for rule in (
        Rule("nim.take.heap", "A move takes from one of the heaps on the table.", _SOURCE),
        Rule("nim.take.some", "A move takes at least one object, and no more than the heap has.", _SOURCE),
        Rule("nim.end.last", "The player that takes the last object wins.", _SOURCE),
        Rule("nim.end.alone", "A player that is left alone wins.", "the referee: an expelled player plays no more"),
    )
}
