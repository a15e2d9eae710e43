"""The fold of a tournament: its spec, events and commands; points, tie-breaks, standings, ratings.

Nothing here plays matches, waits, or draws random numbers: events come in one by one, commands and tables come out.
"""
