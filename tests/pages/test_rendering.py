"""Texts in templates: none becomes markup, control characters are shown, and an unknown name is an error."""

from typing import Any

import pytest
from jinja2 import UndefinedError

from referee.pages.rendering import environment

CASES: list[tuple[str, Any, str]] = [
    ("<td>{{ given }}</td>", "<b>&", "<td>&lt;b&gt;&amp;</td>"),
    ('<td title="{{ given }}"></td>', "\"'<>\x1b", '<td title="&#34;&#39;&lt;&gt;\\x1b"></td>'),
    ("{{ given }}", "<" * 700, "&lt;" * 600 + "… (700 characters)"),
    ("{% macro cell() %}<i>{{ given }}</i>{% endmacro %}{{ cell() }}", "<\n", "<i>&lt;\\n</i>"),
    ("{% for at in given %}{{ at }} {% endfor %}", [1.5] * 300, "1.5 " * 300),
    ("{{ given|coded }}", "a `<b>` c", "a <code>&lt;b&gt;</code> c"),
    ("{{ given|coded }}", "<`\x1b", "&lt;<code>\\x1b</code>"),
    ("{{ given|tojson }}", ["</script>'&\u2028"], '["\\u003c/script\\u003e\\u0027\\u0026\\u2028"]'),
]


@pytest.mark.parametrize(("template", "given", "text"), CASES)
def test_what_is_shown_is_escaped(template: str, given: Any, text: str) -> None:
    """Texts are escaped, made printable and cut; markup is not escaped twice."""
    assert environment().from_string(template).render(given=given) == text


@pytest.mark.parametrize("template", ["{{ missing }}", "{{ given.missing }}", "{% if missing %}{% endif %}"])
def test_a_name_that_is_not_there_is_an_error(template: str) -> None:
    """A template with an unknown name makes no page with a hole in it."""
    with pytest.raises(UndefinedError):
        environment().from_string(template).render(given="text")
