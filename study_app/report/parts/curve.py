"""The report's findings on parameters and parts: agreement along a parameter, and without each part of M."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from calibration.agree.measures.variants import Fit, Role
from calibration.agree.result import tells
from calibration.user_model.model import UserModel
from metrics.arrays import Floats
from study_app.report.drawing.figures import DrawnCurve, Mark, curve_with_marks
from study_app.report.page import LEVEL, Figure, Section, percent, points, points_interval, quantity, stretch
from study_app.report.parts.fit import PATIENCE, curve_marks
from study_app.report.results import (
    FEWEST_FOR_BAND,
    HATCHED,
    RANKED,
    TOO_FEW,
    Row,
    TaskResult,
    ceiling,
    scatters,
)

EXPLORATION = (
    "The curve is for exploration: its highest point was chosen by looking at these preferences, so its agreement is"
    " too good."
)
NO_BAND = ", but has gaps where all queries are alike"
FAIR = " The cross-fitted row of the table is the fair one."
HOW_TO_READ_PARTS = (
    "M-measure without one of its parts, at the paper’s patience. The titles give the agreement and, in brackets, the"
    f" difference from the whole measure in percentage points with its {LEVEL} interval."
)
HOW_TO_READ_TIMELESS = (
    "The measures of ranked lists without time. The titles of the figures give the agreement and, in brackets, the"
    f" difference from {{}} in percentage points with its {LEVEL} interval."
)
AXES = {
    PATIENCE: "patience L, in counted characters",
    "alpha": "α, weight of gain against pain",
    "lateness": "L, worth of a nugget one visit late",
}
WORDS = {PATIENCE: ("", " characters of patience"), "alpha": ("α = ", ""), "lateness": ("L = ", "")}
"""What varies -> what stands before and after its value."""
FITTED = {PATIENCE: "M@", "alpha": "T11U@", "lateness": "MSU@"}
"""What varies -> how measures begin that have it fitted."""
NAMES = {PATIENCE: "Patience", "alpha": "Gain against pain", "lateness": "Lateness"}


def curve_sections(
    result: TaskResult, model: UserModel | None, truth: UserModel | None, suffix: str
) -> Iterator[Section]:
    """Yield a section for each curve of agreement along a parameter."""
    if result.curve.empty:
        return
    language = str(result.rows["language"].iloc[0])
    against = result.curve[result.curve["ties"] == "against"]
    for number, ((measure, over), curve) in enumerate(against.groupby(["measure", "over"], sort=False)):
        marks = curve_marks(model, truth, language, str(over))
        base = "patience" if over == PATIENCE else str(over)
        key = f"{base}{suffix}" if number == 0 or over != PATIENCE else f"{base}-{number + 1}{suffix}"
        yield _curve_section(result, curve, str(measure), str(over), marks, key)


def ablation_section(result: TaskResult, key: str) -> Section | None:
    """Return what is left of the agreement without each part of M (the paper's Fig. 4), or without time; None without ablations."""
    ablations = result.rows[result.rows["role"] == Role.ABLATION]["measure"].drop_duplicates().tolist()
    if not ablations:
        return None
    if result.row(ablations[0])["family"] == RANKED:
        return _timeless_section(result, ablations, key)
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


def _timeless_section(result: TaskResult, plain: Sequence[str], key: str) -> Section:
    """Return the agreement of the measures of ranked lists without time, beside the same with it."""
    timed = {measure: f"TIA-{measure.removeprefix('IA-')}" for measure in plain}
    parts = [
        f"{measure} {percent(result.row(measure)['agreement'])}"
        f" ({timed[measure]} {percent(result.row(timed[measure])['agreement'])})"
        for measure in plain
        if timed[measure] in result.measures
    ]
    return Section(
        key=key,
        title=f"Without time, and in brackets with it: {', '.join(parts)}",
        short="Without time",
        paragraphs=(HOW_TO_READ_TIMELESS.format(result.main),),
        figures=tuple(scatters(result, plain, key)),
    )


def _curve_section(
    result: TaskResult, curve: pd.DataFrame, measure: str, over: str, marks: Sequence[Mark], key: str
) -> Section:
    top = curve["agreement"].max()
    before, after = WORDS.get(over, (f"{over} = ", ""))
    where = stretch(
        curve["value"].tolist(), (curve["agreement"] == top).tolist(), quantity, before=before, after=after
    )
    highest = percent(top)
    few = "" if tells(result.row(result.main)) else f" ({TOO_FEW})"
    title = f"Along the curve agreement of {measure} is highest, {highest}, {where}{few}"
    fitted = result.rows[result.rows["measure"].str.startswith(FITTED.get(over, over))]
    crossed = (fitted["fit"] == Fit.CROSS_FITTED).any()
    drawn = _curve(result, curve, over)
    figure = Figure(
        name=f"{key}-curve",
        title=title,
        wide=True,
        draw=partial(curve_with_marks, curve=drawn, marks=tuple(marks), measure=measure),
        alt=(
            f"Agreement of {measure} over {over} from {quantity(curve['value'].min())} to"
            f" {quantity(curve['value'].max())}: {percent(curve['agreement'].iloc[0])} at the"
            f" lowest, {highest} {where}, {percent(curve['agreement'].iloc[-1])} at the highest."
            f" Marked: {'; '.join(f'{mark.label} {quantity(mark.value)}' for mark in marks)}."
        ),
        caption=(
            "Line: agreement, a tie counting against the measure."
            f" {_band_in_words(result, drawn.band_low)}{'' if np.isnan(drawn.ceiling) else f' {HATCHED}'}"
            f"{_marked_in_words([mark.label for mark in marks])}"
        ),
    )
    return Section(
        key=key,
        title=title,
        short=NAMES.get(over, over),
        paragraphs=(EXPLORATION + (FAIR if crossed else ""),),
        figures=(figure,),
    )


def _marked_in_words(labels: Sequence[str]) -> str:
    """Say what is marked below a curve; nothing where nothing is."""
    words = {"default": "the default", "truth": "the truth of the simulated crowd"}
    estimates = f"the estimates with their {LEVEL} intervals"
    marked = dict.fromkeys(words.get(label, estimates) for label in labels)
    return f" Below: {', '.join(marked)}." if marked else ""


def _band(result: TaskResult, curve: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return the band of a curve; NaN where it has no width, and everywhere where the queries are too few for one."""
    low, high = (curve[name].to_numpy(np.float64) for name in ("band_low", "band_high"))
    known = (high > low) & (int(result.row(result.main)["queries"]) >= FEWEST_FOR_BAND)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _band_in_words(result: TaskResult, band_low: Floats) -> str:
    if np.isnan(band_low).all():
        return f"No band is drawn: {result.topics_counted}, too few to say or all alike."
    gaps = NO_BAND if np.isnan(band_low).any() else ""
    return f"Band around it: holds the whole curve with {LEVEL} confidence{gaps}."


def _curve(result: TaskResult, curve: pd.DataFrame, over: str) -> DrawnCurve:
    panel, perfect = ceiling(result.row(result.main, "against"))
    band_low, band_high = _band(result, curve)
    return DrawnCurve(
        values=curve["value"].to_numpy(np.float64),
        agreement=curve["agreement"].to_numpy(np.float64),
        band_low=band_low,
        band_high=band_high,
        ceiling=panel,
        perfect=perfect,
        label=AXES.get(over, over),
        log=over == PATIENCE,
    )


def _within(change: Row) -> str:
    return "no interval" if np.isnan(change["low"]) else points_interval(change["low"], change["high"])


def _ablation_title(changes: dict[str, Row]) -> str:
    losses = {
        "first layer only": "without its second layers",
        "second layers only": "without its first layer",
        "uniform P": "with every intent equally probable",
    }
    parts = ", ".join(
        f"{points(change['difference'])} points ({_within(change)})"
        f" {losses.get(measure.partition(' ')[2], measure)}"
        for measure, change in changes.items()
    )
    is_less = bool(changes) and all(change["high"] < 0 for change in changes.values())
    less = "M agrees less without its parts" if is_less else "M without its parts"
    return f"{less}: {parts}" if parts else less
