"""Puts the JavaScript verifier into a page. It was written from the documents, and Node.js runs the same files.

`templates/verifier/stand_ins.js` replaces the functions that the files import from Node.js.
"""

# The verifier shares no code with the referee, and Node.js runs the same files, so a bug of the referee can't hide in
# its own page. A browser has no `require`, so each module is wrapped in a function that runs once, and all of them form
# one script. A bundler would do the same, but would need Node.js at build time.

from functools import cache
from importlib import resources

from .rendering import page

PAGE = "verify.html"
"""Name of the page that verifies records; it is next to the pages of the matches."""
_DEALS = ("verify_tiles", "verify_q", "verify_quincy", "verify_quincala", "verify_quadominos")
MODULES = ("shuffle", "verify_lines", "verify_evidence", *_DEALS, "verify_time", "verify_record")
"""Modules of `sample_players/javascript` that the page needs, each after the modules that it requires."""
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
    """Return the script that defines `verifier`, with the functions `verifyRecord` and `findSignatures`."""
    folder = resources.files("sample_players") / "javascript"
    texts = {name: (folder / f"{name}.js").read_text(encoding="utf-8") for name in MODULES}
    sources = "".join(f'"./{name}.js": (module) => {{\n{text}}},\n' for name, text in texts.items())
    return _BUNDLE.format(stand_ins=_template("verifier/stand_ins.js"), sources=sources)


@cache
def verifying_script() -> str:
    """Return the script that, when the reader asks for it, verifies a record and its deal."""
    return verifier_script() + _template("verifier/deal.js") + _template("verify.js")


def verifying_page(tournament: str = "", report: str = "", site: str = "") -> str:
    """Return the page that verifies a record; the link to the page names the record.

    Args:
        tournament: file name of the tournament's record; empty if there are only records of matches.
        report: address of the tournament's page.
        site: relative path to the first page of the contest's site; empty if no site shows the page.
    """
    library = verifier_script() + _template("verifier/deal.js")
    data = {"tournament": tournament, "report": report}
    return page("verify", data, styles=("contest",), library=library, may_ask=True, site=site, record="FILE")


def verifying_link(record: str, head: str) -> str:
    """Return the link to the verifying page, for a page in the same folder.

    Args:
        record: name of the record's file, which is in the parent folder.
        head: head of the record.
    """
    return f"{PAGE}#{record}={head}"


def _template(name: str) -> str:
    return (resources.files(__package__) / "templates" / name).read_text(encoding="utf-8")
