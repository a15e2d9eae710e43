"""Execute the manual's notebook from the first cell to the last: `python -m tests.docs.run_notebook [--write]`.

With `--write`, the notebook is stored with its new output, which the built manual shows. The output differs each time,
by times and by names of matches, so nothing compares it.
"""

import json
import sys
import tempfile
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.docs.manual import ROOT

PATH = ROOT / "docs/players/notebook.ipynb"
LIMIT_S = 600
"""Longest time for one cell."""


def execute(text: str) -> dict[str, Any]:
    """Return a notebook with the output of all its cells; what they print to stderr is left out.

    Raises:
        CellExecutionError: a cell raised an error.
    """
    notebook: Any = nbformat.from_dict(json.loads(text))  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=LIMIT_S, record_timing=False, resources=resources).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return {**notebook, "metadata": json.loads(text)["metadata"]}  # without the version of the Python that ran it


if __name__ == "__main__":
    executed = execute(PATH.read_text())
    if "--write" in sys.argv[1:]:
        PATH.write_text(json.dumps(executed, indent=1, ensure_ascii=False) + "\n")
