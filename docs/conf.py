"""Configuration of the manual: `sphinx-build -W -c docs . docs/_build` makes a site of it.

Sphinx starts from the root of the repository, because the manual has pages outside of docs/: the specification, the
page about records, the changelog. So each page stands once, and its links lead to the same files on a code host.
"""

import re
from pathlib import PurePosixPath
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
root_doc = "docs/index"
include_patterns = ["docs/**", "protocol/*.md", "logs/README.md", "*.md", "examples/*/README.md"]
exclude_patterns = [".*", "docs/_build", "build", "dist", "**/node_modules"]
smartquotes = False  # two hyphens are the beginning of an option here

default_role = "code"  # docstrings and help texts have code between single backticks
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebook holds its output; .ci/run executes it
autodoc_mock_imports = ["gymnasium", "numpy", "pettingzoo", "pygame", "resvg_py"]  # the manual needs its own extra only
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"  # what a class is made of is its own affair
autodoc_typehints_format = "short"

html_theme = "furo"
html_title = f"The referee {release}"
html_copy_source = False
html_show_sphinx = False

ELSEWHERE = {
    "docs/index": ["README"],
    "docs/reference/index": ["protocol/SPEC", "protocol/CS4500", "logs/README", "CHANGELOG"],
    "docs/develop/index": ["CONTRIBUTING", "SECURITY", "examples/nim/README", "examples/openspiel/README"],
}
"""Index page -> pages outside of docs/ that stand below it in the site's menu."""
_LISTED = re.compile(r"^(?:- |\| )\[[^\]]*\]\(([\w/-]+)\.(?:md|ipynb)\)", re.MULTILINE)


def list_pages(_app: Any, name: str, source: list[str]) -> None:
    """Put the pages that an index links to, each at the beginning of a line, into the site's menu.

    A code host shows the list of links alone, without the directive that Sphinx needs.

    Args:
        name: the page, without its ending.
        source: its text, as the only element; changed in place.
    """
    if not name.endswith("index"):
        return
    folder = PurePosixPath(name).parent
    pages = [*(str(folder / page) for page in _LISTED.findall(source[0])), *ELSEWHERE.get(name, ())]
    source[0] += "\n\n```{toctree}\n:hidden:\n\n" + "".join(f"/{page}\n" for page in dict.fromkeys(pages)) + "```\n"


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


def lead_to_first_page(app: Any, error: Exception | None) -> None:
    """Let the site's address lead to its first page, which stands in a folder."""
    if error is None and app.builder.name == "html":
        (app.outdir / "index.html").write_text('<meta http-equiv="refresh" content="0; url=docs/index.html">\n')


def setup(app: Any) -> None:
    """Register what this configuration adds; called by Sphinx."""
    app.connect("source-read", list_pages)
    app.connect("sphinx-click-process-options", tidy_options)
    app.connect("sphinx-click-process-epilog", mark_examples)
    app.connect("autodoc-process-docstring", keep_colons, priority=600)  # napoleon's is 500
    app.connect("doctree-read", set_dashes)
    app.connect("build-finished", lead_to_first_page)
