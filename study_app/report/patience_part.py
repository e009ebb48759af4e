"""The report's findings on the parts of M: its patience, its layers, its intent probabilities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibration.variants import Fit, Role
from study_app.report.figures import Curve, Mark, curve_with_marks
from study_app.report.page import Figure, Section
from study_app.report.results import TaskResult, scatters
from study_app.report.wording import LEVEL, percent, points, quantity

if TYPE_CHECKING:
    import pandas as pd

EXPLORATION = (
    "The curve is for exploration: its highest point was chosen by looking at these preferences, so its agreement is"
    " too good."
)
FAIR = " The cross-fitted row of the table is the fair one."
HOW_TO_READ_PARTS = (
    "M-measure without one of its parts, at the paper’s patience. The titles give the agreement and, in brackets, the"
    f" difference from the whole measure in percentage points with its {LEVEL} interval."
)


def patience_section(
    result: TaskResult, truth: float | None, marks: Sequence[Mark], key: str
) -> Section | None:
    """Return the curve of agreement over patience, None where there is no curve."""
    if result.curve.empty:
        return None
    curve = result.curve[result.curve["ties"] == "against"]
    best = curve[curve["agreement"] == curve["agreement"].max()]
    low, high = best["patience_chars"].min(), best["patience_chars"].max()
    where = f"at {quantity(low)}" if low == high else f"between {quantity(low)} and {quantity(high)}"
    highest = percent(best["agreement"].iloc[0])
    row = result.row(result.main)
    title = f"Along the curve agreement is highest, {highest}, {where} characters of patience"
    estimates = "; ".join(f"{mark.label} {quantity(mark.value)}" for mark in marks)
    figure = Figure(
        title=title,
        wide=True,
        svg=curve_with_marks(
            Curve(
                patience=curve["patience_chars"].to_numpy(np.float64),
                agreement=curve["agreement"].to_numpy(np.float64),
                band_low=curve["band_low"].to_numpy(np.float64),
                band_high=curve["band_high"].to_numpy(np.float64),
                ceiling=float(row["ceiling"]),
                perfect=float(row["perfect"]),
            ),
            marks,
            key=f"{key}-curve",
            measure="M",
        ),
        alt=(
            f"Agreement of M over patience from {quantity(curve['patience_chars'].min())} to"
            f" {quantity(curve['patience_chars'].max())} characters: {percent(curve['agreement'].iloc[0])} at the"
            f" lowest patience, {highest} {where}, {percent(curve['agreement'].iloc[-1])} at the highest."
            f" Patience estimates: {estimates}."
        ),
        caption=(
            f"Line: agreement, a tie counting against M. Band around it: holds the whole curve with {LEVEL} confidence."
            " Bar across: from the agreement of a second panel to that of a perfect measure. Below: the paper’s"
            f" default and the estimates of the patience with their {LEVEL} intervals"
            + (", and the truth of the simulated crowd." if truth is not None else ".")
        ),
    )
    return Section(
        key=key,
        title=title,
        short="Patience",
        paragraphs=(EXPLORATION + (FAIR if (result.rows["fit"] == Fit.CROSS_FITTED).any() else ""),),
        figures=(figure,),
    )


def ablation_section(result: TaskResult, key: str) -> Section | None:
    """Return what is left of the agreement without each part of M (the paper's Fig. 4), None without ablations."""
    ablations = result.rows[result.rows["role"] == Role.ABLATION]["measure"].drop_duplicates().tolist()
    if not ablations:
        return None
    changes = {measure: result.comparison(measure) for measure in ablations}
    known = {measure: change for measure, change in changes.items() if change is not None}
    missing = (
        []
        if len(ablations) > 1
        else ["The layers cannot be judged alone: collection and runs were not found."]
    )
    return Section(
        key=key,
        title=_ablation_title(known),
        short="Parts of M",
        paragraphs=(
            HOW_TO_READ_PARTS,
            *missing,
        ),
        figures=tuple(scatters(result, ablations, key)),
    )


def _ablation_title(changes: dict[str, "pd.Series[object]"]) -> str:
    losses = {
        "first layer only": "without its second layers",
        "second layers only": "without its first layer",
        "uniform P": "with every intent equally probable",
    }
    values = {measure: float(change["difference"]) for measure, change in changes.items()}
    parts = ", ".join(
        f"{points(value)} points {losses[measure.partition(' ')[2]]}" for measure, value in values.items()
    )
    less = (
        "M agrees less without its parts"
        if all(value < 0 for value in values.values())
        else "M without its parts"
    )
    return f"{less}: {parts}" if parts else less
