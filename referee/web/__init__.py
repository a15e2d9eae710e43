"""The web site of a contest: its pages, and who may see which of them."""
