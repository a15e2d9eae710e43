"""The connections of players: who comes in, who sits where, what is said to them."""
