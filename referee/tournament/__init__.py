"""What the results of a tournament amount to: points, standings, ratings.

Nothing here plays, waits or draws lots: results come in one by one, tables and numbers come out. The ledger alone keeps
something, in a database.
"""
