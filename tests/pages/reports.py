"""Reports of small tournaments, and how tests read them. Knows no page's look."""

import csv
import io
import re
from html import unescape
from typing import Any

from referee.pages.report_files import Targets, Written, write_report

from .matches import ESCAPE, IMAGE, SCRIPT
from .tournaments import REGISTRY, SALT, Cast, Stage

CAST = Cast(cheats={1: 2}, rude={2: 1}, dead=frozenset({8}), void=frozenset({2}), junk=f"{SCRIPT}{IMAGE}{ESCAPE}")
SWISS: dict[str, Any] = {"format_options": {"rounds": 4}}


def report(stage: Stage, **targets: Any) -> Written:
    """Write all that is told of a tournament beside its records."""
    return write_report(
        stage.folder,
        stage.spec,
        stage.entries,
        salt=SALT,
        format_=REGISTRY.format(stage.spec.format),
        find_game=REGISTRY.game,
        targets=Targets(**targets),
    )


def page(stage: Stage) -> str:
    """Return the page as it was written."""
    return (stage.folder / "report.html").read_text(encoding="utf-8")


def section(text: str, name: str) -> str:
    """Return what is to be read in a part of the page."""
    found = re.search(rf'<section id="{name}".*?</section>', text, re.DOTALL)
    assert found is not None, name
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", found[0])).split())


def rows(stage: Stage, name: str) -> list[dict[str, str]]:
    """Return the lines of a table that was written."""
    return list(csv.DictReader(io.StringIO((stage.folder / f"{name}.csv").read_text(encoding="utf-8"))))
