"""`python -m referee` is the command `referee`."""

from .cli.main import main

main(prog_name="referee")
