"""Configuration of the manual: `sphinx-build -W docs docs/_build` makes a site of the pages in docs/."""

import re
from typing import Any

import click
from docutils import nodes

from referee import __version__

project = "The referee"
author = "the authors of the referee"
project_copyright = author
release = version = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_build"]
smartquotes = False  # two hyphens are the beginning of an option here

default_role = "code"  # docstrings and help texts have code between single backticks
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_output_stderr = "remove"  # a key that is made on first use
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"  # what a class is made of is its own affair
autodoc_typehints_format = "short"

html_theme = "furo"
html_title = f"The referee {release}"
html_copy_source = False
html_show_sphinx = False


def tidy_options(_app: Any, context: click.Context, lines: list[str]) -> None:
    """Name an option's value by its type, as `--help` does, and show a default path as it is typed.

    Args:
        context: the command's.
        lines: of reStructuredText, which describe the command's options; changed in place.
    """
    kinds = {f"<{option.name}>": f"<{option.type.name}>" for option in context.command.params if not option.metavar}
    for number, line in enumerate(lines):
        name = re.search(r"<\w+>$", line)
        shown = line.replace(name[0], kinds.get(name[0], name[0])) if name else line
        lines[number] = re.sub(r"PosixPath\((.*)\)", r"\1", shown)


def mark_examples(_app: Any, _context: click.Context, lines: list[str]) -> None:
    """Show the command of an example as code.

    Args:
        lines: of reStructuredText, which stand below the command's options; changed in place.
    """
    lines[:] = [re.sub(r"^(Example:) +(.*)$", r"\1 ``\2``", line) for line in lines]


def keep_colons(_app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Put what an attribute's docstring has before a colon where it stood: napoleon takes it for the type.

    Args:
        what: the kind of the object that is documented.
        lines: its text, as napoleon leaves it; changed in place.
    """
    taken = [line for line in lines if line.startswith(":type: ")]
    if what in {"attribute", "data", "property"} and taken:
        lines.remove(taken[0])
        lines[0] = f"{taken[0].removeprefix(':type: ')}: {lines[0]}"


def set_dashes(_app: Any, doctree: nodes.document) -> None:
    """Put a dash between a parameter and its description, for which Sphinx relies on smart quotes."""
    for text in list(doctree.findall(lambda node: isinstance(node, nodes.Text) and node == " -- ")):
        text.parent.replace(text, nodes.Text(" \N{EN DASH} "))


def setup(app: Any) -> None:
    """Register what this configuration adds; called by Sphinx."""
    app.connect("sphinx-click-process-options", tidy_options)
    app.connect("sphinx-click-process-epilog", mark_examples)
    app.connect("autodoc-process-docstring", keep_colons, priority=600)  # napoleon's is 500
    app.connect("doctree-read", set_dashes)
