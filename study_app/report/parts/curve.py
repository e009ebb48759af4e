"""Findings on parameters and parts: curves of agreement, and ablations."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from calibration.agree.measures.variants import ParameterOrigin, VariantRole
from calibration.agree.result import has_enough_pairs
from calibration.user_model.model import UserModel
from study_app.report.drawing.figures import CurveMark, curve_with_marks
from study_app.report.page import LEVEL, Figure, Section, percent, points, points_interval, quantity, stretch
from study_app.report.parts.agreement import scatters
from study_app.report.parts.fit import PATIENCE, curve_marks
from study_app.report.results import MIN_BAND_QUERIES, RANKED, TOO_FEW, TaskResult

EXPLORATION = (
    "The curve is for exploration: its highest point was chosen by looking at these preferences, so its agreement is"
    " too good."
)
FAIR = " The cross-fitted row of the table is the fair one."
HOW_TO_READ = (
    "{}. The titles of the figures give the agreement and, in brackets, the difference from {} in percentage points with its"
    f" {LEVEL} interval."
)
HATCHED = " Hatched: from the agreement of a second panel to that of a perfect measure."
AXES = {
    PATIENCE: "patience L, in counted characters",
    "alpha": "α, weight of gain against pain",
    "lateness": "L, worth of a nugget one visit late",
}
WORDS = {PATIENCE: ("", " characters of patience"), "alpha": ("α = ", ""), "lateness": ("L = ", "")}
"""Text before and after the value of a parameter, by its name."""
FITTED = {PATIENCE: "M@", "alpha": "T11U@", "lateness": "MSU@"}
"""Prefix of the measures that have a parameter fitted, by its name."""
NAMES = {PATIENCE: "Patience", "alpha": "Gain against pain", "lateness": "Lateness"}
LOSSES = {
    "first layer only": "without its second layers",
    "second layers only": "without its first layer",
    "uniform P": "with every intent equally probable",
}


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
    """Return the section on agreement without each part of M (Fig. 4), or None.

    For ranked lists the part left out is time.
    """
    ablations = result.rows[result.rows["role"] == VariantRole.ABLATION]["measure"].drop_duplicates().tolist()
    if not ablations:
        return None
    if result.row(ablations[0])["family"] == RANKED:
        title, short = _timeless_title(result, ablations), "Without time"
        paragraphs = [HOW_TO_READ.format("The measures of ranked lists without time", result.main)]
    else:
        title, short = _ablation_title(result, ablations), "Parts of M"
        whole = "M-measure without one of its parts, at the paper’s patience"
        paragraphs = [HOW_TO_READ.format(whole, "the whole measure")]
        if len(ablations) == 1:
            paragraphs.append("The layers cannot be judged alone: collection and runs were not found.")
    figures = tuple(scatters(result, ablations, key))
    return Section(key=key, title=title, short=short, paragraphs=tuple(paragraphs), figures=figures)


def _timeless_title(result: TaskResult, plain: Sequence[str]) -> str:
    """Return the agreement of ranked-list measures without and with time."""
    timed = {measure: f"TIA-{measure.removeprefix('IA-')}" for measure in plain}
    parts = [
        f"{measure} {percent(result.row(measure)['agreement'])}"
        f" ({timed[measure]} {percent(result.row(timed[measure])['agreement'])})"
        for measure in plain
        if timed[measure] in result.measures
    ]
    return f"Without time, and in brackets with it: {', '.join(parts)}"


def _ablation_title(result: TaskResult, ablations: Sequence[str]) -> str:
    changes = [change for measure in ablations if (change := result.comparison(measure)) is not None]
    parts = ", ".join(
        f"{points(change['difference'])} points ({points_interval(change['low'], change['high'])})"
        f" {LOSSES.get(str(change['measure']).partition(' ')[2], change['measure'])}"
        for change in changes
    )
    is_less = bool(changes) and all(change["high"] < 0 for change in changes)
    less = "M agrees less without its parts" if is_less else "M without its parts"
    return f"{less}: {parts}" if parts else less


def _curve_section(
    result: TaskResult, curve: pd.DataFrame, measure: str, over: str, marks: Sequence[CurveMark], key: str
) -> Section:
    top = curve["agreement"].max()
    before, after = WORDS.get(over, (f"{over} = ", ""))
    where = stretch(
        curve["value"].tolist(), (curve["agreement"] == top).tolist(), quantity, before=before, after=after
    )
    few = "" if has_enough_pairs(result.row(result.main)) else f" ({TOO_FEW})"
    title = f"Along the curve agreement of {measure} is highest, {percent(top)}, {where}{few}"
    fitted = result.rows[result.rows["measure"].str.startswith(FITTED.get(over, over))]
    row = result.row(result.main, "against")
    ceilings = float(row["ceiling"]), float(row["perfect"])
    values, agreement, low, high = (
        curve[name].to_numpy(np.float64) for name in ("value", "agreement", "band_low", "band_high")
    )
    has_band = (high > low) & (int(row["queries"]) >= MIN_BAND_QUERIES)
    figure = Figure(
        name=f"{key}-curve",
        title=title,
        wide=True,
        draw=partial(
            curve_with_marks,
            values=values,
            agreement=agreement,
            band=(np.where(has_band, low, np.nan), np.where(has_band, high, np.nan)),
            ceilings=ceilings,
            marks=tuple(marks),
            labels=(AXES.get(over, over), measure),
            log=over == PATIENCE,
        ),
        alt=(
            f"Agreement of {measure} over {over} from {quantity(values.min())} to {quantity(values.max())}:"
            f" {percent(agreement[0])} at the lowest, {percent(top)} {where}, {percent(agreement[-1])} at the highest."
            f" Marked: {'; '.join(f'{mark.label} {quantity(mark.value)}' for mark in marks)}."
        ),
        caption=(
            "Line: agreement, a tie counting against the measure."
            + (
                f" Band around it: holds the whole curve with {LEVEL} confidence"
                f"{'' if has_band.all() else ', but has gaps where all queries are alike'}."
                if has_band.any()
                else f" No band is drawn: {result.topics_counted}, too few to say or all alike."
            )
            + ("" if np.isnan(ceilings).any() else HATCHED)
            + _marked_in_words([mark.label for mark in marks])
        ),
    )
    return Section(
        key=key,
        title=title,
        short=NAMES.get(over, over),
        paragraphs=(EXPLORATION + (FAIR if (fitted["fit"] == ParameterOrigin.CROSS_FITTED).any() else ""),),
        figures=(figure,),
    )


def _marked_in_words(labels: Sequence[str]) -> str:
    """Describe the marks below a curve, or return nothing."""
    words = {"default": "the default", "truth": "the truth of the simulated crowd"}
    marked = dict.fromkeys(
        words.get(label, f"the estimates with their {LEVEL} intervals") for label in labels
    )
    return f" Below: {', '.join(marked)}." if marked else ""
