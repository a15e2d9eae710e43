"""The connections of players: which players are let in, where they sit, and what is sent to them."""
