"""Puts the verifier that was written from the documents into a page: the same files that Node.js runs.

What they take from Node.js stands in for them in `templates/verifier/stand_ins.js`.
"""

# The verifier shares no code with the referee, and Node.js runs the very same files: a bug of the referee can't hide in
# its own page. A browser has no `require`, so the modules are wrapped into one script, each in a function that runs
# once. A bundler would do the same and need Node.js at build time; forty lines need nothing.

from functools import cache
from importlib import resources

from .rendering import page

PAGE = "verify.html"
"""Name of the page that verifies records, next to those of the matches."""
_DEALS = ("verify_tiles", "verify_q", "verify_quincy", "verify_quincala", "verify_quadominos")
MODULES = ("shuffle", "verify_lines", "verify_evidence", *_DEALS, "verify_time", "verify_record")
"""Modules of `sample_players/javascript` that the page needs, each after those that it needs itself."""
_BUNDLE = """const verifier = (() => {{
{stand_ins}
const sources = {{
{sources}}};
const loaded = {{ "node:crypto": {{ createHash }} }};
function require(name) {{
  if (!(name in loaded)) {{
    const module = {{}};
    sources[name](module);
    loaded[name] = module.exports;
  }}
  return loaded[name];
}}
return {{ ...require("./verify_record.js"), findSignatures }};
}})();
"""


@cache
def verifier_script() -> str:
    """Return the script of a page that defines `verifier`, with `verifyRecord` and `findSignatures`."""
    folder = resources.files("sample_players") / "javascript"
    texts = {name: (folder / f"{name}.js").read_text(encoding="utf-8") for name in MODULES}
    sources = "".join(f'"./{name}.js": (module) => {{\n{text}}},\n' for name, text in texts.items())
    return _BUNDLE.format(stand_ins=_template("verifier/stand_ins.js"), sources=sources)


@cache
def verifying_script() -> str:
    """Return the script of a page that verifies a record, and deals it again, once its reader asks for it."""
    return verifier_script() + _template("verifier/deal.js") + _template("verify.js")


def verifying_page(tournament: str = "", report: str = "", site: str = "") -> str:
    """Return the page that verifies the record which the link to it names.

    Args:
        tournament: name of its record's file; empty: there are records of matches alone.
        report: its page; those of matches lie next to this one.
        site: relative path to the first page of the contest's site; empty: the page is on none.
    """
    library = verifier_script() + _template("verifier/deal.js")
    data = {"tournament": tournament, "report": report}
    return page("verify", data, styles=("contest",), library=library, may_ask=True, site=site, record="FILE")


def verifying_link(record: str, head: str) -> str:
    """Return the link to that page from one next to it.

    Args:
        record: name of the record's file, in the folder above.
        head: head of the record.
    """
    return f"{PAGE}#{record}={head}"


def _template(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")
