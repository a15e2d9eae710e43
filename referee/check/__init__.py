"""Walks a player program through the protocol, step by step, for its author. Refuses to know the command line.

A step is a small function; `steps` has their table. Most talk to the program over a plain socket (`session`), with the
fold of a real match behind it (`sitting`); the last ones play at a real table (`real`).
"""
