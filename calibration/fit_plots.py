"""Every plot that the fits of a user model offer, as files.

matplotlib is imported when plots are wanted and not before. Drawings do not show on a screen.
"""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from metrics.whole_files import write_whole

FORMATS = ("png", "svg")
INCHES = (6.0, 4.0)
DOTS_PER_INCH = 200
PREFIX = "plot_"


def plot_names(fit: object) -> list[str]:
    """Return what a fit can draw: the names of its methods ``plot_...`` without that beginning."""
    return sorted(name.removeprefix(PREFIX) for name in dir(fit) if name.startswith(PREFIX))


def write_plots(fits: Mapping[str, object], folder: Path) -> list[Path]:
    """Draw everything that the fits offer, each as PNG and SVG.

    Parameters
    ----------
    fits : mapping of str to fit
        What the files are called by -> the fit.
    folder : Path
        Made if it is not there.

    Returns
    -------
    list of Path
        The files, in order.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    written = []
    for name, fit in fits.items():
        for plot in plot_names(fit):
            for path, content in _drawn(fit, plot, folder / f"{name}_{plot}"):
                folder.mkdir(parents=True, exist_ok=True)
                write_whole(path, content)
                written.append(path)
    return written


def _drawn(fit: object, plot: str, stem: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield a plot's files. The same fit gives the same bytes: no date, no random names inside an SVG."""
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"svg.hashsalt": stem.name, "svg.fonttype": "none"}):
        figure = Figure(figsize=INCHES, layout="constrained")
        getattr(fit, PREFIX + plot)(figure.add_subplot())
        for kind in FORMATS:
            content = BytesIO()
            metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
            figure.savefig(content, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
            yield stem.with_name(f"{stem.name}.{kind}"), content.getvalue()
