"""What the pages are put together from: parts in files, slots, a policy, data. Refuses to know what a page shows."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_SLOT = re.compile(r"\{\{(\w+)\}\}")


@cache
def part(name: str) -> str:
    """Return a file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def filled(template: str, slots: Mapping[str, str]) -> str:
    """Put each slot's text where the template has `{{its name}}`; what looks like a slot in a text stays as it is."""
    return _SLOT.sub(lambda found: slots[found[1]], template)


def policy(script: str, style: str) -> str:
    """Return a policy that lets this script and this style be, and nothing else."""
    return (
        f"default-src 'none'; script-src {_fingerprint(script)}; style-src {_fingerprint(style)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def embedded(data: Any) -> str:
    """Return data as JSON that cannot end its element: without `<`, `>`, `&` and anything beyond ASCII."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
