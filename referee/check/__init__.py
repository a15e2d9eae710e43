"""Checks a player program for its author: leads it through the protocol, step by step.

A step is a small function; `checking` has the list. Most talk to the program over a plain socket (`session`), with
the fold of a real match behind it (`scripted_match`). The last ones are matches as the referee plays them.
"""
