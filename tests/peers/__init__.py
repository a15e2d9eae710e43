"""Player programs that break rules on purpose."""
