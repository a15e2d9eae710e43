"""The line numbers of a TOML file's values, in every form in which a key or a value can be written."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.app.tournament_file.sheet import Lines, Where

CASES: list[tuple[str, str, dict[Where, int]]] = [
    ("empty", "", {}),
    ("comments", "# a = 1\n\n  # [b]\nc = 1 # d = 2\n", {("c",): 4}),
    ("no-newline-at-the-end", "a = 1\nb = 2", {("a",): 1, ("b",): 2}),
    ("windows", "a = 1\r\n\r\nb = 2\r\n", {("a",): 1, ("b",): 3}),
    ("quoted", '"a b" = 1\n\'c."d\' = 2\n"" = 3\n', {("a b",): 1, ('c."d',): 2, ("",): 3}),
    ("escaped", '"q\\u0041\\"#" = 1\n', {('qA"#',): 1}),
    ("dotted", 'a . "b.c".d = 1\n', {("a",): 1, ("a", "b.c"): 1, ("a", "b.c", "d"): 1}),
    ("dotted-twice", "a.b = 1\na.c = 2\n", {("a",): 1, ("a", "b"): 1, ("a", "c"): 2}),
    ("table", "[a]\nb = 1\n[ c . d ]\n", {("a",): 1, ("a", "b"): 2, ("c",): 3, ("c", "d"): 3}),
    ("table-after-its-inner-one", "[a.b]\n[a]\nc = 1\n", {("a",): 2, ("a", "b"): 1, ("a", "c"): 3}),
    ("text-with-signs", 'a = "[b] # \' \\" = "\nc = \'"""\'\n', {("a",): 1, ("c",): 2}),
    ("long-text", 'a = """\nb = 1\n\\""" [c]\n"""\nd = 1\n', {("a",): 1, ("d",): 5}),
    ("long-literal", "a = '''\nb = 1 \\\n'''\nd = 1\n", {("a",): 1, ("d",): 4}),
    ("long-text-ending-in-quotes", 'a = """\n"x"""""\nb = 1\n', {("a",): 1, ("b",): 3}),
    ("empty-texts", "a = [\"\", '', \"\"\"\"\"\", '''''']\n", {("a",): 1, **{("a", at): 1 for at in range(4)}}),
    (
        "long-array",
        "a = [ # one ]\n  1,\n\n  [2,\n 3],\n]\nb = 1\n",
        {("a",): 1, ("a", 0): 2, ("a", 1): 4, ("a", 1, 0): 4, ("a", 1, 1): 5, ("b",): 7},
    ),
    (
        "inline-tables",
        'a = [\n {b = 1, "c".d = [{}]},\n {}\n]\n',
        {
            ("a",): 1,
            ("a", 0): 2,
            ("a", 0, "b"): 2,
            ("a", 0, "c"): 2,
            ("a", 0, "c", "d"): 2,
            ("a", 0, "c", "d", 0): 2,
            ("a", 1): 3,
        },
    ),
    (
        "arrays-of-tables",
        "[[a]]\nb = 1\n[[a]]\n[[a.c]]\n[a.c.d]\n[[a.c]]\n[[a]]\n[[a.c]]\n",
        {
            ("a",): 1,
            ("a", 0): 1,
            ("a", 0, "b"): 2,
            ("a", 1): 3,
            ("a", 1, "c"): 4,
            ("a", 1, "c", 0): 4,
            ("a", 1, "c", 0, "d"): 5,
            ("a", 1, "c", 1): 6,
            ("a", 2): 7,
            ("a", 2, "c"): 8,
            ("a", 2, "c", 0): 8,
        },
    ),
    (
        "numbers-and-dates",
        "a = 1979-05-27 07:32:32 # x\nb = 0x1_F\nc = [+inf, 1e3]\n",
        {("a",): 1, ("b",): 2, ("c",): 3, ("c", 0): 3, ("c", 1): 3},
    ),
]


def places(value: Any, where: Where = ()) -> Iterator[Where]:
    """Yield the place of every value within a value."""
    if where:
        yield where
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*where, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*where, index))


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_every_value_has_its_line(text: str, expected: dict[Where, int]) -> None:
    """Keys, elements and headers are found on their lines, and nothing is missing or too much."""
    assert Lines(text).known == expected
    assert set(places(tomllib.loads(text))) == set(expected)


@pytest.mark.parametrize(
    ("where", "line"),
    [(("t", "a", 1), 4), (("t", "a", 7), 2), (("t", "b"), 1), (("x",), 1), ((), 1)],
)
def test_what_is_missing_is_sought_around_it(where: Where, line: int) -> None:
    """A missing value has the line of the table that it would stand in."""
    assert Lines("[t]\na = [\n1,\n2]\n").of(where) == line


KEYS = st.sampled_from(["a", "b-c", '"d e"', "'f\"#'", '"\\u0067]"'])
SCALARS = st.sampled_from(
    ["1", "true", "'#x'", '"a]\\"}"', '"""\n]"\n"""', "'''\n[a]\n\n'''", "1979-05-27 07:32:32", "-1.5e3"]
)
GAPS = st.sampled_from(["", " ", "\n", " # ], }\n", "\n\n\t"])


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    """Return an array in some spelling."""
    parts = [draw(GAPS) + value + draw(GAPS) for value in draw(st.lists(inner, max_size=3))]
    return f"[{','.join(parts)}{draw(st.sampled_from([',', ''])) if parts else ''}{draw(GAPS)}]"


@st.composite
def inline_tables(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    """Return an inline table in some spelling."""
    keys = draw(st.lists(KEYS, unique=True, max_size=3))
    return "{ " + " , ".join(f"{key}={draw(inner)}" for key in keys) + " }"


VALUES = st.recursive(SCALARS, lambda inner: arrays(inner) | inline_tables(inner), max_leaves=8)


@given(values=st.lists(VALUES, max_size=5), heads=st.lists(st.sampled_from(["", "[t%d]", "[[l]]", "[[l]]\n[l.s]"])))
def test_every_spelling_is_stepped_over(values: list[str], heads: list[str]) -> None:
    """For each text that the standard library reads, the same values are found, and each key on its line."""
    lines, expected = [], []
    for number, value in enumerate(values):
        if number < len(heads) and heads[number]:
            lines.append(heads[number].replace("%d", str(number)))
        text = "\n".join(lines)
        expected.append((f"k{number}", text.count("\n") + 2 if lines else 1))
        lines.append(f"k{number} = {value}")
    text = "\n".join(lines)
    found = Lines(text)
    assert set(places(tomllib.loads(text))) == found.known.keys()
    by_key = {where[-1]: line for where, line in found.known.items()}
    assert [(key, by_key[key]) for key, _ in expected] == expected


def test_what_is_no_toml_does_not_hang() -> None:
    """A text that the standard library refuses is refused here, too."""
    with pytest.raises(ValueError, match="no TOML at character"):
        Lines("= 1")
