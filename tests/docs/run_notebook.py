"""Execute the manual's notebook from the first cell to the last: `python -m tests.docs.run_notebook [--write]`.

With `--write`, the notebook is stored with its new output, which the built manual shows. Times and names of matches in
the output differ each time, so nothing compares it.
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


def execute(text: str) -> str:
    """Return a notebook with the output of all its cells, without their stderr.

    Raises:
        CellExecutionError: a cell raised an error.
    """
    notebook: Any = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=LIMIT_S, record_timing=False, resources=resources).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            cell.metadata.pop("execution", None)
    notebook.metadata = nbformat.from_dict(json.loads(text)["metadata"])  # type: ignore[no-untyped-call]  # as it was
    return str(nbformat.writes(notebook))  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    executed = execute(PATH.read_text())
    if "--write" in sys.argv[1:]:
        PATH.write_text(executed + "\n")
