"""Where the files that are not code live: in the wheel under study_app, in a checkout beside it."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_folder(name: str) -> Path:
    """Return the folder ``name`` (`templates`, `examples`) of the wheel, else of the checkout.

    Raises
    ------
    FileNotFoundError
        If the installation is incomplete.
    """
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"prefcal's folder {name!r} is missing; install prefcal again")
