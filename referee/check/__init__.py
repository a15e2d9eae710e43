"""Leads a player program through the protocol, step by step, for its author.

A step is a small function; `checking` has the table. Most talk to the program over a plain socket (`session`), with the
fold of a real match behind it (`scripted_match`); the last ones are matches as the referee plays them (`real_matches`).
"""
