"""Makes a page from a template. Every text is made printable and escaped.

In case an escape ever fails, the page's policy allows only one script and one style, by their hashes, and no address.
"""

# Everything that players choose is hostile: names, moves, details of fouls, output. Three walls protect the reader.
# 1. Jinja escapes each value (`autoescape`), and `_finalize` makes control characters visible.
# 2. Data for scripts is JSON in an element that no browser executes; scripts write it with `textContent`.
# 3. If both failed, the content security policy would still allow exactly one script and one style, by their hashes,
#    and no address to send anything to.
#
# `StrictUndefined` makes a misspelt name in a template fail in a test; otherwise it would become an empty cell.

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
"""Tag before the data of a page's script."""
_SELF, _NOBODY = "'self'", "'none'"
_SITE_HEADER = re.compile(r'<nav class="site-bar" aria-label="Site" data-site="([./]*)">.*?</nav>', re.DOTALL)
_BESIDE = f"{_SELF} file: "
"""Allows the files next to a page: on the server that sent it, or in the folder that it was opened from."""
_MAY_ASK = f"connect-src {_SELF}; "
_HAS_ICON = f"img-src {_SELF}; "
"""Allows the icon of the site, which browsers ask for by themselves."""
PICTURE = "preview.png"
"""Picture in the preview of a link to the site, 1200 by 630 pixels, cut from a drawing of a match of Quad-Ominos."""
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
        name: name of the page's template, without the ending.
        data: data for the page's script; it becomes JSON in the page.
        looks: name of the page's own script and style, without the ending; None: the name of the template.
        styles: names of styles that come before the page's own, without the ending.
        scripts: names of scripts that come before the page's own, without the ending.
        library: text of a script that runs before the page's own.
        may_ask: whether the script may send requests to the server that sent the page.
        may_send: whether forms may be sent to that server.
        site: relative path to the first page of a contest's site, for a page that is the same for all visitors. Such a
            page gets the site's header. Empty: the page has a header of its own, or belongs to no site.
        has_shared_files: whether the style and the script are files next to the page; `shared_files` returns them.
        values: values for the template.
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
    """Return the files that pages share, a style and a script: name -> text.

    Args:
        look: name of the style and the script, without the ending.
        site: as for `page`.
    """
    return {f"{look}.css": _join_style(look, ()), f"{look}.js": _join_script(look, (), site)}


def with_shared_files(page: bytes, look: str, site: str) -> bytes:
    """Return a page, or its beginning, with the shared style and script inside, so that it works without other files.

    The page's policy names both by their hashes, and then allows nothing else. A page from another release of the
    referee is returned unchanged.
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
    """Return a page for an archive: the header of the contest's site is reduced to a link to the first page."""
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
    """Return the Jinja environment of all templates."""
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
    """Return the JSON in a page for its script; `null` if there is none."""
    return text.partition(DATA)[2].partition(b"</script>")[0] or b"null"


def time_of_day(at: str) -> Markup:
    """Return the element for a time in UTC, ISO 8601. The page's script shows it in the reader's time zone."""
    return Markup('<time datetime="{}">{}</time>').format(printable(at), printable(moment(at)))


def coded(text: str) -> Markup:
    """Return a text with its parts between backticks as code elements."""
    parts = enumerate(printable(text).split("`"))
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in parts)


def _finalize(value: Any) -> Any:
    """Return a template's value with visible control characters; markup, which is not escaped, stays unchanged."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def _source(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _fingerprint(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
