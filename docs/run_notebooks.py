"""Run the notebooks and keep what they show: `make notebooks`, after a change of what they print."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent / "notebooks"


def main() -> None:
    """Run each notebook in its folder; nothing that differs from run to run is kept."""
    for path in sorted(HERE.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, record_timing=False, resources={"metadata": {"path": str(HERE)}}).execute()
        notebook.metadata["language_info"] = {"name": "python"}
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
