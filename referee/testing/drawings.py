"""What a drawing of a game may consist of."""

from xml.etree import ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = {
    _SVG + name
    for name in (
        *("svg", "g", "defs", "symbol", "use", "title", "desc", "text", "tspan", "path", "rect", "circle", "ellipse"),
        *("line", "polyline", "polygon", "clipPath", "mask", "pattern", "linearGradient", "radialGradient", "stop"),
    )
}
"""Elements of a drawing: what can't run, load or restyle the page around it."""


def check_drawing(svg: str) -> None:
    """Check that a drawing may stand in any page: one SVG document of shapes and text, and nothing that acts or loads.

    Raises:
        AssertionError: it is not; the text says why.
    """
    try:
        root = ET.fromstring(svg)  # noqa: S314  # our own games' drawings, not a stranger's
    except ET.ParseError as error:
        raise AssertionError(f"the drawing is no well-formed XML: {error}") from error
    assert root.tag == f"{_SVG}svg", f"the drawing is a {root.tag}"
    assert root.get("viewBox"), "the drawing has no viewBox"
    for element in root.iter():
        assert element.tag in _SHAPES, f"the drawing has a {element.tag}"
        for name, value in element.items():
            local = name.rpartition("}")[2].lower()
            assert not local.startswith("on"), f"the drawing acts: {name}"
            assert local not in ("style", "src"), f"the drawing has the attribute {name}"
            assert local != "href" or value.startswith("#"), f"the drawing links outside: {value}"
            assert "url(" not in value.lower().replace("url(#", ""), f"the drawing loads {value}"
