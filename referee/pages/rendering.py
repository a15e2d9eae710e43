"""Makes a page from a template: every text is made printable and escaped, every script and style named by its hash.

The page's policy allows that one script and that one style and no address, in case an escape ever fails.
"""

# Everything that players choose is hostile: names, moves, details of fouls, output. Three walls stand between it and a
# reader. Jinja escapes each value (autoescape, and `_finalize` makes control characters visible). Data for scripts is
# JSON in an element that no browser executes, and scripts write it with `textContent`. If both failed, the content
# security policy would still allow exactly one script and one style, by hash, and no address to send anything to.
#
# `StrictUndefined`: a misspelt name in a template must fail in a test, not become an empty cell.

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..text import counted, placeless, printable
from .columns import MEANINGS, TEXTS
from .encounters import share_error
from .words import broken, duration, moment, number, short_cause

DATA = b'<script type="application/json" id="data">'
"""Stands before the data of a page's script."""
_SELF, _NOBODY = "'self'", "'none'"
_SITE_HEADER = re.compile(r'<nav class="site-bar" aria-label="Site" data-site="([./]*)">.*?</nav>', re.DOTALL)
_BESIDE = f"{_SELF} file: "
"""Allows the files next to a page: on the server that it came from, or in the folder that it was opened from."""
_MAY_ASK = f"connect-src {_SELF}; "
_HAS_ICON = f"img-src {_SELF}; "
"""Allows the icon of the site, which browsers ask for by themselves."""
PICTURE = "preview.png"
"""Picture that stands for the site where somebody shares a link to a page."""
_PICTURE = re.compile(rb'(<meta property="og:image" content=")[./]*(preview\.png">)')
_PREVIEW = re.compile('<meta property="og:image".*?<meta name="twitter:card"[^>]*>\n', re.DOTALL)


def page(
    name: str,
    data: Any,
    /,
    *,
    looks: str | None = None,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    library: str = "",
    may_ask: bool = False,
    may_send: bool = False,
    site: str = "",
    has_shared_files: bool = False,
    **values: Any,
) -> str:
    """Return a page.

    Args:
        name: name of its template, without the ending.
        data: data for its script, which becomes JSON in the page.
        looks: name of its script and its own style, without the ending; None: they are called as the template is.
        styles: names of styles before its own, without the ending.
        scripts: names of scripts before its own, without the ending.
        library: script that runs before its own.
        may_ask: whether its script may ask the server that it came from.
        may_send: whether forms may be sent to that server.
        site: relative path to the first page of a contest's site, for a page that is made once for all its visitors: it
            gets the site's header; empty: it has a header of its own, or stands alone.
        has_shared_files: whether its style and its script are files next to it, which `shared_files` returns.
        values: values for its template.
    """
    look = looks or name
    style, script = _join_style(look, styles), library + _join_script(look, scripts, site)
    beside = _BESIDE if has_shared_files else ""
    home = site or (values.get("top", "./") if may_send else "")
    policy = (
        f"default-src 'none'; script-src {beside}{_fingerprint(script)}; style-src {beside}{_fingerprint(style)}; "
        f"{_MAY_ASK if may_ask or site else ''}{_HAS_ICON if home else ''}"
        f"base-uri 'none'; form-action {_SELF if may_send or site else _NOBODY}"
    )
    template = environment().get_template(f"{name}.html")
    shared = look if has_shared_files else ""
    return template.render(
        policy=policy, style=style, script=script, shared=shared, data=data, site=site, home=home, **values
    )


def shared_files(look: str, site: str) -> dict[str, str]:
    """Return the style and the script that pages share as files next to them, by their names.

    Args:
        look: name of both, without the ending.
        site: as for `page`.
    """
    return {f"{look}.css": _join_style(look, ()), f"{look}.js": _join_script(look, (), site)}


def with_shared_files(page: bytes, look: str, site: str) -> bytes:
    """Return a page, or its beginning, that holds what it shares with others: it can be kept alone.

    The page's policy names both by their hashes, and then allows nothing else. A page that another release of the
    referee has made stays as it is.
    """
    style, script = shared_files(look, site).values()
    if not all(_fingerprint(text).encode() in page for text in (style, script)):
        return page
    tags = environment().get_template("shared_files.html").render(shared=look).encode()
    inside = f'<style>{style}</style>\n<script type="module">{script}</script>'.encode()
    return page.replace(tags, inside, 1).replace(_BESIDE.encode(), b"", 2)


def _join_style(look: str, styles: Sequence[str]) -> str:
    return "".join(_source(f"{name}.css") for name in ("page", *styles, look))


def _join_script(look: str, scripts: Sequence[str], site: str) -> str:
    return "".join(_source(f"{name}.js") for name in ("times", "wide", *scripts, look, *(("site",) if site else ())))


def without_site(page: str) -> str:
    """Return a page whose header of a contest's site leads to the first page of an archive alone."""
    link = r'<nav class="site-bar" aria-label="Site"><a href="\1index.html">The contest</a></nav>'
    return _SITE_HEADER.sub(link, _PREVIEW.sub("", page, count=1), count=1)


def with_address(page: bytes, address: str) -> bytes:
    """Return a page, or its beginning, whose preview names the address of its picture.

    Services that show a preview of a link do not ask for a picture with a relative address.

    Args:
        page: page of a contest's site.
        address: public address of the site, with a slash at the end.
    """
    return _PICTURE.sub(lambda tag: tag[1] + str(escape(address)).encode() + tag[2], page, count=1)


def read_picture() -> bytes:
    """Return the picture that stands for the site, as PNG."""
    return files(__package__).joinpath("templates", PICTURE).read_bytes()


@cache
def environment() -> Environment:
    """Return what all templates are read and filled by."""
    made = Environment(
        autoescape=True,
        finalize=_finalize,
        loader=PackageLoader(__package__),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.globals.update(columns=MEANINGS, texts=TEXTS, zip=zip)
    made.filters.update(
        broken=broken,
        coded=coded,
        counted=counted,
        duration=duration,
        moment=time_of_day,
        number=number,
        placeless=placeless,
        share_error=share_error,
        short_cause=short_cause,
    )
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return made


def find_data(text: bytes) -> bytes:
    """Return the JSON that a page has for its script; `null` if it has none."""
    return text.partition(DATA)[2].partition(b"</script>")[0] or b"null"


def time_of_day(at: str) -> Markup:
    """Return a time of day in UTC, ISO 8601, as an element that the page's script makes the reader's own time."""
    return Markup('<time datetime="{}">{}</time>').format(printable(at), printable(moment(at)))


def coded(text: str) -> Markup:
    """Return a text whose parts between backticks are code."""
    parts = enumerate(printable(text).split("`"))
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in parts)


def _finalize(value: Any) -> Any:
    """Return what an expression of a template becomes before it is escaped; markup, which is not, stays as it is."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _source(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
