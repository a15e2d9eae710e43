"""Puts the verifier that was written from the documents into a page: the same files that Node.js runs.

What they take from Node.js stands in for them in `templates/verifier/stand_ins.js`.
"""

from functools import cache
from importlib import resources

MODULES = ("shuffle", "verify_lines", "verify_evidence", "verify_q", "verify_time", "verify_record")
"""Of `sample_players/javascript`."""
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
    return _BUNDLE.format(stand_ins=_template("stand_ins.js"), sources=sources)


@cache
def verifying_script() -> str:
    """Return the script of a page that verifies a record once its reader asks for it."""
    return verifier_script() + _template("panel.js")


def _template(name: str) -> str:
    return (resources.files(__package__) / "templates" / "verifier" / name).read_text(encoding="utf-8")
