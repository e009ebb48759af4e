"""The fits of a folder once more, for their figures: a user model holds numbers, its tables hold what they came from.

A figure is shown only where fitting again, with the usual options, finds the very numbers of the user model.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from matplotlib.figure import Figure as Drawing

from calibration.durations.result import DurationFit
from calibration.fit.options import FitOptions
from calibration.fit.plots import PREFIX, plot_names
from calibration.fit.study import UserModelFit, fit_user_model
from calibration.inference.results import CalibrationResult, NotIdentifiedError
from calibration.intents.fit import IntentFit
from calibration.raters.quality import QualityReport
from calibration.user_model.model import UserModel
from metrics.wording import listed
from study_app.report.drawing.plot_colours import fit_drawing
from study_app.report.folder import Material
from study_app.report.page import Figure
from study_app.report.parts.fit_titles import CAPTIONS, fit_title

NEARLY = 1e-6
"""Relative difference up to which two fits are the same."""

LEFT_OUT = ("plot_agreement",)
"""Drawings that another figure of the report shows better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refit:
    """What fitting again gives.

    Attributes
    ----------
    figures : tuple of Figure
        The fits, each with what it was fitted to.
    notes : tuple of str
        What is not drawn, and why.
    quality : QualityReport or None
        Agreement among raters, consistency and position bias; None without tables.
    """

    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    quality: QualityReport | None = None


def refit(material: Material) -> Refit:
    """Fit a folder's tables again and draw what its user model was fitted to."""
    if not material.tables:
        return Refit()
    model = material.model
    seed = 1 if model is None or model.seed is None else model.seed
    again = fit_user_model(
        material.tables, seed=seed, options=FitOptions(simulations=0), record=material.study
    )
    if model is None:
        return Refit(quality=again.quality)
    differing = [name for name, fit in again.results.items() if not _same(fit, model)]
    notes = []
    if differing:
        notes.append(
            f"Not drawn: {listed(differing)}. The user model has other numbers than a fit of these tables with the usual"
            " options; prefcal fit --plots draws what it fits."
        )
    figures = tuple(_figures(again, model, set(differing)))
    return Refit(figures=figures, notes=tuple(notes), quality=again.quality)


def _same(fit: CalibrationResult, model: UserModel) -> bool:
    """Say whether the user model has the numbers of a fit."""
    for name, value in fit.parameters.items():
        entry = model.parameters.get(name)
        if entry is None or not _equal(value, entry.estimate):
            return False
    return True


def _equal(one: float, other: float | None) -> bool:
    return math.isinf(one) if other is None else math.isclose(one, other, rel_tol=NEARLY)


def _figures(again: UserModelFit, model: UserModel, differing: set[str]) -> Iterator[Figure]:
    drawable: Mapping[str, CalibrationResult | IntentFit] = again.drawable
    for stem, fit in drawable.items():
        if isinstance(fit, CalibrationResult) and next(iter(fit.parameters)) in differing:
            continue
        for plot in plot_names(fit):
            method = PREFIX + plot
            title = fit_title(stem, plot, fit, model)
            if title is None or method in LEFT_OUT or not _has_something(fit, method):
                continue
            yield Figure(
                name=f"fit-{stem.replace('_', '-')}-{plot}",
                title=title,
                draw=partial(fit_drawing, plot=getattr(fit, method)),
                alt=f"{title}. {CAPTIONS[plot]}",
                caption=CAPTIONS[plot],
            )


def _has_something(fit: CalibrationResult | IntentFit, method: str) -> bool:
    """Say whether a fit can draw itself; durations with many cut ones cannot."""
    if not isinstance(fit, DurationFit):
        return True
    try:
        getattr(fit, method)(Drawing().add_subplot())
    except NotIdentifiedError:
        return False
    return True
