"""Files beside a user model: quality.json, fit-plots.json and plots.

A user model holds numbers and no data. A drawing is kept as the calls that made it (methods of `matplotlib.axes.Axes`
with their arguments), so that the report draws it again in its own colours without fitting anything. matplotlib is imported when
plots are wanted and not before; they do not show on a screen.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, JsonValue, field_validator

from calibration.inference.attempts import FitFailure, catch_unidentified
from calibration.inference.results import LEVEL, CalibrationResult, SkippedParameters
from calibration.inference.uncertainty import finite_or_none
from calibration.models.intents import IntentFit
from calibration.user_model.json_files import read_model, write_json
from calibration.user_model.model import ParameterEntry
from metrics.errors import pluralise
from metrics.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("png", "svg")
INCHES = (6.0, 4.5)
DOTS_PER_INCH = 200
PREFIX = "plot_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawings:
    """Names of the drawings, and their files.

    Attributes
    ----------
    files : tuple of Path
        In order, as many of each drawing as there are `FORMATS`.
    skipped : tuple of SkippedParameters
        What could not be drawn, by the names of the files, and why.
    """

    files: tuple[Path, ...]
    skipped: tuple[SkippedParameters, ...]

    def __len__(self) -> int:
        """Return the number of drawings, each of several files."""
        return len(self.files) // len(FORMATS)

    def __str__(self) -> str:
        """Format as `8 drawings (PNG and SVG)`."""
        kinds = " and ".join(kind.upper() for kind in FORMATS)
        return f"{pluralise(len(self), 'drawing')} ({kinds})"


def plot_names(fit: object) -> list[str]:
    """Return the names of a fit's plots, its methods ``plot_...`` without prefix."""
    return sorted(name.removeprefix(PREFIX) for name in dir(fit) if name.startswith(PREFIX))


def write_plots(fits: Mapping[str, object], folder: Path, *, level: float = LEVEL) -> Drawings:
    """Write every plot of the fits as PNG and SVG.

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
    plots = [(name, plot) for name, fit in fits.items() for plot in plot_names(fit)]
    for name, plot in plots:
        stem = f"{name}_{plot}"
        contents = catch_unidentified(lambda: list(_drawn(fits[name], plot, folder / stem, level)))  # noqa: B023 - called at once
        if isinstance(contents, FitFailure):
            reasons.setdefault(f"not drawn, {contents.reason}", []).append(stem)
            continue
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in contents:
            write_atomically(path, content)
            written.append(path)
    return Drawings(
        files=tuple(written),
        skipped=tuple(SkippedParameters(names=tuple(names), reason=why) for why, names in reasons.items()),
    )


def _drawn(fit: object, plot: str, stem: Path, level: float) -> Iterator[tuple[Path, bytes]]:
    """Yield a plot's files, reproducible to the byte.

    SVG files have no date and no random names.
    """
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


PLOTS, QUALITY, CARELESS = "fit-plots.json", "quality.json", "careless.csv"
"""Names of the files beside the model."""
METHODS = frozenset(
    {
        *(
            "plot",
            "step",
            "stairs",
            "errorbar",
            "fill_between",
            "fill_betweenx",
            "vlines",
            "axhline",
            "axvline",
        ),
        *("set", "set_title", "set_xlabel", "set_ylabel", "set_xlim", "set_ylim", "set_xscale", "set_yscale"),
        *("set_xticks", "set_yticks", "legend"),
    }
)
"""Methods of axes that a plot may call."""
Call: TypeAlias = tuple[str, list[JsonValue], dict[str, JsonValue]]
"""Method, arguments, named arguments."""


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FitPlot(_Shape):
    """Recorded drawing of a fit.

    Attributes
    ----------
    fit, plot : str
        What the fit is called in file names, ``away``; what is drawn of it, ``totals``.
    parameters : tuple of str
        What was fitted.
    details : mapping of str to float or None
        What else the fit found; of intents their number and how far they lie from the votes on average.
    calls : tuple of (str, list, dict)
        How it is drawn.
    """

    fit: str
    plot: str
    parameters: tuple[str, ...]
    details: dict[str, float | None]
    calls: tuple[Call, ...]

    @field_validator("calls")
    @classmethod
    def _known(cls, calls: tuple[Call, ...]) -> tuple[Call, ...]:
        for name, _, _ in calls:
            if name not in METHODS:
                raise ValueError(f"no drawing calls {name!r}")
        return calls

    def draw(self, ax: "Axes") -> None:
        """Repeat the recorded calls on given axes."""
        for name, values, named in self.calls:
            getattr(ax, name)(*map(_numbers, values), **named)


class FitPlots(_Shape):
    """Content of fit-plots.json.

    Attributes
    ----------
    model_sha256 : str
        Hash of the user model that they are of.
    options : tuple of str
        Options of the fit that were not the usual ones, as typed.
    plots : tuple of FitPlot
        In order of the fits.
    """

    format: Literal["prefcal-fit-plots/1"] = "prefcal-fit-plots/1"
    model_sha256: str
    options: tuple[str, ...] = ()
    plots: tuple[FitPlot, ...]


class _Quality(BaseModel):
    """Keys of quality.json that are read again."""

    format: Literal["prefcal-quality/1"]
    measures: dict[str, ParameterEntry]


def write_fit_plots(
    fits: Mapping[str, CalibrationResult | IntentFit], model_file: Path, options: tuple[str, ...] = ()
) -> Path:
    """Write the recorded plots of a user model beside it; return the file.

    Parameters
    ----------
    fits : mapping of str to fit
        What they are called by -> the fit; a drawing that has nothing to show is left out.
    model_file : Path
        The user model, written already.
    options : tuple of str
        Of the fit, as typed.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    kept = FitPlots.model_construct(
        model_sha256=_sha256(model_file), options=options, plots=tuple(_drawings(fits))
    )
    path = model_file.parent / PLOTS
    write_json(path, dict(kept) | {"plots": [dict(plot) for plot in kept.plots]}, indent=None)
    return path


def read_fit_plots(model_file: Path) -> FitPlots | None:
    """Return the recorded plots of a user model, or None.

    The result is None where there are none, or they belong to another model.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = model_file.parent / PLOTS
    if not (path.is_file() and model_file.is_file()):
        return None
    kept = read_model(path, FitPlots, cure="write it anew with prefcal fit")
    return kept if kept.model_sha256 == _sha256(model_file) else None


def read_quality(model_file: Path) -> dict[str, ParameterEntry]:
    """Return the measures of quality.json beside a user model, none without it.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    path = model_file.parent / QUALITY
    if not path.is_file():
        return {}
    return read_model(path, _Quality, cure="write it anew with prefcal fit").measures


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _drawings(fits: Mapping[str, CalibrationResult | IntentFit]) -> Iterator[FitPlot]:
    for name, fit in fits.items():
        for plot in plot_names(fit):
            calls = catch_unidentified(lambda: _calls(getattr(fit, PREFIX + plot)))  # noqa: B023 - called at once
            if not isinstance(calls, FitFailure):
                yield FitPlot.model_construct(
                    fit=name,
                    plot=plot,
                    parameters=() if isinstance(fit, IntentFit) else tuple(fit.parameters),
                    details=_details(fit),
                    calls=calls,
                )


def _details(fit: CalibrationResult | IntentFit) -> dict[str, float | None]:
    if isinstance(fit, IntentFit):
        moves = [
            abs(p - raw) for p, raw in zip(fit.result.estimates, fit.raw, strict=True) if raw is not None
        ]
        distance = float(sum(moves) / len(moves)) if moves else None
        return {"intents": float(len(fit.intents)), "distance": distance}
    return {name: finite_or_none(value) for name, value in fit.details.items()}


def _calls(draw: "Callable[[Axes], None]") -> tuple[Call, ...]:
    """Record the calls with which a fit draws itself."""
    recorder = _Recorder()
    draw(recorder)  # type: ignore[arg-type]
    return tuple(recorder.calls)


class _Recorder:
    """Recorder of the calls that axes would get.

    It draws nothing, so that matplotlib is not needed.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Return a method that records its calls."""
        if name not in METHODS:
            raise TypeError(f"a drawing that calls {name} cannot be kept")

        def written_down(*args: object, **named: object) -> None:
            self.calls.append(
                (name, [_plain(each) for each in args], {k: _plain(v) for k, v in named.items()})
            )

        return written_down


def _plain(value: Any) -> Any:
    """Convert an argument to JSON; None for a number that is not finite."""
    if isinstance(value, np.ndarray | np.generic):
        all_finite = value.dtype.kind != "f" or bool(np.isfinite(value).all())
        value = value.tolist()
        if all_finite:
            return value
    if isinstance(value, list | tuple | range):
        return [_plain(each) for each in value]
    return finite_or_none(value) if isinstance(value, float) else value


def _numbers(value: JsonValue) -> Any:
    """Convert numbers to an array, None to NaN; return anything else unchanged."""
    if isinstance(value, list) and all(each is None or isinstance(each, int | float) for each in value):
        return np.array(value, dtype=np.float64)
    return value
