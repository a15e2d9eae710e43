"""Checks the drawing of a game: which elements and attributes it may have."""

from xml.etree import ElementTree as ET

# The drawing of a plugin's game becomes part of the pages of the organiser's site. A list of what is forbidden would
# never be complete: SVG has scripts, foreign objects, animations that set attributes, styles and images that load. So
# the check lists what is allowed, and a game that needs more elements has to have them added here.
_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = {
    _SVG + name
    for name in (
        *("svg", "g", "defs", "symbol", "use", "title", "desc", "text", "tspan", "path", "rect", "circle", "ellipse"),
        *("line", "polyline", "polygon", "clipPath", "mask", "pattern", "linearGradient", "radialGradient", "stop"),
    )
}
"""Elements of a drawing, none of which can run, load or restyle the page around it."""


def check_drawing(svg: str) -> None:
    """Check that a drawing can be put into any page: an SVG document of shapes and text that runs and loads nothing.

    Args:
        svg: the drawing.

    Raises:
        AssertionError: it can't be put into a page; the text says why.

    >>> check_drawing('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect onclick="alert()"/></svg>')
    Traceback (most recent call last):
        ...
    AssertionError: the drawing acts: onclick
    """
    try:
        root = ET.fromstring(svg)  # noqa: S314  # the drawing comes from an installed game, not from a stranger
    except ET.ParseError as error:
        raise AssertionError(f"the drawing is not well-formed XML: {error}") from error
    assert root.tag == f"{_SVG}svg", f"the drawing is a {root.tag}"
    assert root.get("viewBox"), "the drawing has no viewBox"
    for element in root.iter():
        assert element.tag in _SHAPES, f"the drawing has a {element.tag}"
        for name, value in element.items():
            local = name.rpartition("}")[2].lower()
            assert not local.startswith("on"), f"the drawing acts: {name}"
            assert local not in ("style", "src"), f"the drawing has the attribute {name}"
            assert local != "href" or value.startswith("#"), f"the drawing links outside: {value}"
            # References within the drawing are taken out first; any that is left points outside.
            assert "url(" not in value.lower().replace("url(#", ""), f"the drawing loads {value}"
