"""A seat for a person, who chooses moves on a page or in a terminal. To the referee it is a player like any other."""
