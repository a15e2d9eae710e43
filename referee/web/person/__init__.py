"""A seat for a person: a player on the wire like any other, whose moves somebody chooses on a page or in a terminal."""
