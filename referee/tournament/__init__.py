"""The fold of a tournament: its spec, events and commands; points, tie-breaks, standings, ratings.

Nothing here plays, waits or draws lots: events come in one by one, commands and tables come out.
"""
