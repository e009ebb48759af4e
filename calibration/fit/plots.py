"""Every plot that the fits of a user model offer, as files.

matplotlib is imported when plots are wanted and not before. Drawings do not show on a screen.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from calibration.inference.attempts import Unmade, guarded
from calibration.inference.results import LEVEL, Skipped
from metrics.files import write_whole
from metrics.wording import counted

FORMATS = ("png", "svg")
INCHES = (6.0, 4.5)
DOTS_PER_INCH = 200
PREFIX = "plot_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawings:
    """What was drawn.

    Attributes
    ----------
    files : tuple of Path
        In order, as many of each drawing as there are `FORMATS`.
    skipped : tuple of Skipped
        What could not be drawn, by the names of the files, and why.
    """

    files: tuple[Path, ...]
    skipped: tuple[Skipped, ...]

    def __len__(self) -> int:
        """Return the number of drawings; of files there are more."""
        return len(self.files) // len(FORMATS)

    def __str__(self) -> str:
        """`8 drawings (PNG and SVG)`."""
        kinds = " and ".join(kind.upper() for kind in FORMATS)
        return f"{counted(len(self), 'drawing')} ({kinds})"


def plot_names(fit: object) -> list[str]:
    """Return what a fit can draw: the names of its methods ``plot_...`` without that beginning."""
    return sorted(name.removeprefix(PREFIX) for name in dir(fit) if name.startswith(PREFIX))


def write_plots(fits: Mapping[str, object], folder: Path, *, level: float = LEVEL) -> Drawings:
    """Draw everything that the fits offer, each as PNG and SVG.

    Parameters
    ----------
    fits : mapping of str to fit
        What the files are called by -> the fit.
    folder : Path
        Made if it is not there.
    level : float in (0, 1)
        Confidence level of intervals, and share of simulated studies that a band holds.

    Returns
    -------
    Drawings
        A fit that says of a plot that it has nothing to show is not drawn.

    Raises
    ------
    InputError
        If a file cannot be written.
    """
    written: list[Path] = []
    reasons: dict[str, list[str]] = {}
    wanted = [(name, plot) for name, fit in fits.items() for plot in plot_names(fit)]
    for name, plot in wanted:
        stem = f"{name}_{plot}"
        contents = guarded(lambda: list(_drawn(fits[name], plot, folder / stem, level)))  # noqa: B023 - called at once
        if isinstance(contents, Unmade):
            reasons.setdefault(f"not drawn, {contents.reason}", []).append(stem)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in contents:
            write_whole(path, content)
            written.append(path)
    return Drawings(
        files=tuple(written),
        skipped=tuple(Skipped(names=tuple(names), reason=why) for why, names in reasons.items()),
    )


def _drawn(fit: object, plot: str, stem: Path, level: float) -> Iterator[tuple[Path, bytes]]:
    """Yield a plot's files. The same fit gives the same bytes: no date, no random names inside an SVG."""
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context({"svg.hashsalt": stem.name, "svg.fonttype": "none"}):
        figure = Figure(figsize=INCHES, layout="constrained")
        getattr(fit, PREFIX + plot)(figure.add_subplot(), level=level)
        for kind in FORMATS:
            content = BytesIO()
            metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
            figure.savefig(content, format=kind, dpi=DOTS_PER_INCH, metadata=metadata)
            yield stem.with_name(f"{stem.name}.{kind}"), content.getvalue()
