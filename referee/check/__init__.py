"""Checks a player program for its author: leads it through the protocol, step by step.

A step is a small function; `checking` has the list. Most steps talk to the program over a plain socket (`session`),
and the fold of a real match judges its moves (`scripted_match`). The last steps are matches that the referee plays.
"""
