"""Games of the library OpenSpiel for the referee."""
