"""Section on the workers: exclusions, searches, consistency, side bias."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as Drawing

from calibration.raters.consistency import consistency_by_worker
from calibration.raters.position_bias import left_share_by_worker
from calibration.tables.preferences import exclusions
from calibration.tables.study_json import StudyRecord
from calibration.user_model.model import ParameterEntry
from study_app.protocol.domain import is_right
from study_app.report.drawing.figures import worker_scatter, worker_shares
from study_app.report.drawing.style import ReportStyle
from study_app.report.folder import ReportInputs
from study_app.report.page import (
    LEVEL,
    Figure,
    ReportTable,
    Section,
    decimal,
    decimal_interval,
    percent,
    percent_interval,
    pluralise,
    quantity,
    to_table,
)

CAPTION = (
    f"Each sign is a worker with an exact {LEVEL} interval; crosses were left out. Band across: all counted workers"
    " together. Dashed: "
)

EVEN = 0.5
QUALITIES = {
    "preference_fleiss_kappa": "Agreement among raters, left, right or equal (Fleiss’ kappa)",
    "preference_krippendorff_alpha": "The same (Krippendorff’s alpha)",
    "preference_fleiss_kappa_4": "Agreement among raters, four options (Fleiss’ kappa)",
    "preference_krippendorff_alpha_4": "The same (Krippendorff’s alpha)",
    "consistency_share": "Repeats answered alike",
    "consistency_kappa": "The same, beyond chance (kappa)",
    "identical_share": "Repeats answered with the same option",
    "identical_kappa": "The same, beyond chance (kappa)",
    "left_share": "Left among the answers for a side",
    "importance_weighted_kappa": "Agreement on importance (weighted kappa)",
}
"""Words for the numbers of quality.json, by name."""
NO_QUALITY = (
    "There is no quality.json beside a user model, so sides and repeats are not shown; prefcal fit writes it."
)
UNEVEN_SIDES = {"sides_not_drawn", "uneven_sides"}
"""Diagnostics of sides that look not drawn by lot."""
UNKNOWN_SIDES = "These tables do not state that sides were assigned at random, so a lean may also be a liking for what stood there."
FLAGS = {
    "dwell": "answers too quick for reading",
    "straight_lining": "always the same answer or side",
    "shared_submission": "came under a submission of another worker",
}
"""Words for the flags of table workers, by name."""


def consistency_figure(
    preferences: pd.DataFrame, workers: pd.DataFrame | None, entries: Mapping[str, ParameterEntry], name: str
) -> Iterator[Figure]:
    """Yield the figure of each worker's consistency beyond chance.

    It yields nothing where no pair was repeated.
    """
    consistency = consistency_by_worker(preferences).dropna(subset=["kappa"])
    overall = entries.get("consistency_kappa")
    if consistency.empty or overall is None:
        return
    yield Figure(
        name=name,
        title=(
            f"Beyond chance repeats are answered alike with kappa {decimal(overall.estimate)}"
            f" ({decimal_interval(*overall.interval)})"
        ),
        draw=_drawn(
            consistency.assign(kappa_low=consistency["kappa_low"].clip(lower=-1.0)),
            ("kappa", "kappa_low", "kappa_high"),
            workers,
            reference=0.0,
            overall=_ends(overall),
            label="kappa of the repeats",
            as_percent=False,
        ),
        alt=(
            f"Consistency beyond chance of {pluralise(len(consistency), 'worker')}: together kappa"
            f" {decimal(overall.estimate)}, {percent(entries['consistency_share'].estimate)} of the repeats answered alike;"
            f" {int((consistency['kappa'] <= 0).sum())} not beyond chance."
        ),
        caption=CAPTION + "what the same habits would give without looking.",
    )


def side_figure(
    preferences: pd.DataFrame, workers: pd.DataFrame | None, entries: Mapping[str, ParameterEntry], name: str
) -> Iterator[Figure]:
    """Yield the figure of each worker's share of left among answers for a side.

    It yields nothing where every answer is a tie.
    """
    overall = entries.get("left_share")
    if overall is None or overall.estimate is None:
        return
    shares, ends = left_share_by_worker(preferences), _ends(overall)
    is_uneven = any(each.name in UNEVEN_SIDES for each in overall.diagnostics)
    leaning = int(((shares["low"] > EVEN) | (shares["high"] < EVEN)).sum())
    lean = ": no lean that shows" if ends[0] <= EVEN <= ends[1] else ": a lean"
    lean = ": sides were uneven" if is_uneven else lean
    yield Figure(
        name=name,
        title=(
            f"{percent(overall.estimate)} of the answers for a side are for the left one"
            f" ({percent_interval(*ends)}){'' if np.isnan(ends).any() else lean}"
        ),
        draw=_drawn(
            shares,
            ("share", "low", "high"),
            workers,
            reference=EVEN,
            overall=ends,
            label="answers for the left side",
            as_percent=True,
        ),
        alt=(
            f"Share of left answers of {pluralise(len(shares), 'worker')}: together {percent(overall.estimate)},"
            f" {leaning} with an interval that leaves out one half."
        ),
        caption=CAPTION + "one half, no lean.",
    )


def _drawn(
    rows: pd.DataFrame, names: tuple[str, str, str], workers: pd.DataFrame | None, **how: Any
) -> Callable[[ReportStyle], Drawing]:
    value, low, high = (rows[name].to_numpy(np.float64) for name in names)
    excluded = rows["worker"].isin(exclusions(workers).index).to_numpy(bool)
    return partial(worker_shares, value=value, ends=(low, high), excluded=excluded, **how)


def _ends(entry: ParameterEntry) -> tuple[float, float]:
    low, high = entry.interval
    return (np.nan if low is None else low), (np.nan if high is None else high)


def workers_section(material: ReportInputs, key: str = "workers") -> Section:
    """Return the section on the workers' care, and what the tables lack."""
    paragraphs: list[str] = []
    figures: list[Figure] = []
    workers, preferences = material.tables.get("workers"), material.tables.get("preferences")
    judges = 0 if preferences is None else preferences["worker"].nunique()
    title = "Nothing is known about the workers"
    if workers is None:
        if preferences is not None:
            title = f"{pluralise(judges, 'worker')} judged" if judges else "Who judged is not known"
        paragraphs.append("There is no table of workers, so nobody could be left out.")
    else:
        title, sentence = _exclusions(workers)
        paragraphs.append(sentence)
        figures += _search_figure(workers, _limits(material), f"{key}-search")
    paragraphs += _gold(material.gold, workers)
    entries = material.quality
    if preferences is None:
        paragraphs.append("There is no table of preferences, so sides and repeats cannot be judged.")
    elif not entries:
        paragraphs.append(NO_QUALITY)
    else:
        paragraphs += _care(entries, has_drawn_sides=_has_drawn_sides(material.study, preferences))
        if judges:
            figures += consistency_figure(preferences, workers, entries, f"{key}-consistency")
            figures += side_figure(preferences, workers, entries, f"{key}-sides")
    return Section(
        key=key,
        title=title,
        short="Workers",
        paragraphs=tuple(paragraphs),
        figures=tuple(figures),
        tables=tuple(_quality_table(entries, key)),
    )


def _quality_table(entries: Mapping[str, ParameterEntry], key: str) -> Iterator[ReportTable]:
    """Yield the table of consistency, side bias and agreement among raters.

    Numbers have intervals; without any number it yields nothing.
    """
    if not entries:
        return
    warnings = dict.fromkeys(
        diagnostic.sentence
        for entry in entries.values()
        for diagnostic in entry.diagnostics
        if diagnostic.severity == "warning"
    )
    yield to_table(
        f"{key}-quality",
        "How steady workers are, and how well they agree",
        entries.items(),
        (
            ("What", lambda row: QUALITIES.get(row[0], row[0])),
            ("Estimate", lambda row: decimal(row[1].estimate)),
            (f"{LEVEL} interval", lambda row: decimal_interval(*row[1].interval)),
            ("Workers", lambda row: quantity(row[1].workers)),
            ("Rows", lambda row: quantity(row[1].rows)),
            ("Method", lambda row: row[1].method),
        ),
        note=" ".join(
            ["Kappa and alpha: 0 is what chance or habit alone would give, 1 is perfect.", *warnings]
        ),
    )


def _exclusions(workers: pd.DataFrame) -> tuple[str, str]:
    out = exclusions(workers)
    excluded = int((out == "excluded").sum())
    withdrawn = int((out == "withdrawn").sum())
    completed = int(workers["completed_at"].notna().sum())
    reasons = (
        workers.loc[workers["worker"].isin(out[out == "excluded"].index), "reason"].dropna().value_counts()
    )
    why = ", ".join(f"{reason}: {count}" for reason, count in reasons.items())
    title = f"{excluded} of {pluralise(len(workers), 'worker')} {'was' if excluded == 1 else 'were'} left out"
    sentence = (
        f"{pluralise(len(workers), 'worker')} took part and {completed} finished. The study’s rule left out {excluded}"
        + (f" ({why})" if why else "")
        + f"; {withdrawn} withdrew. Their rows are in no fit and in no number here but the one that says so."
        + _flagged(workers)
    )
    return title, sentence


def _gold(gold: pd.DataFrame, workers: pd.DataFrame | None) -> Iterator[str]:
    """Yield how often gold pairs, whose answer is known, were answered right; nothing where there were none."""
    if gold.empty:
        return
    right = sum(map(is_right, gold["gold"], gold["choice"]))
    reasons = pd.Series(dtype="str") if workers is None else workers["reason"].dropna()
    out = int(reasons.str.contains(r"\bgold\b").sum())
    who = pluralise(gold["worker"].nunique(), "worker") if gold["worker"].notna().any() else "people"
    yield (
        f"Gold pairs, whose answer was known, were answered right in {percent(right / len(gold))} of"
        f" {pluralise(len(gold), 'judgment')} of {who}; {out} {'was' if out == 1 else 'were'} left out for it. They count in no other number."
    )


def _flagged(workers: pd.DataFrame) -> str:
    """Return the number of workers with each flag that excludes nobody, or nothing."""
    texts = workers["flags"].dropna() if "flags" in workers else ()
    numbers = Counter(flag for text in texts for flag in text.split(", "))
    if not numbers:
        return ""
    flag_counts = ", ".join(f"{FLAGS.get(flag, flag)}: {number}" for flag, number in sorted(numbers.items()))
    return f" Flagged, and not left out for it ({flag_counts})."


def _limits(material: ReportInputs) -> tuple[float | None, float | None]:
    """Return the smallest search time and consistency that the study accepted."""
    limits: dict[str, float] = {}
    for task in material.study.tasks.values() if material.study else ():
        for name in ("min_search_seconds", "min_consistency"):
            value = task.protocol.get(name)
            if isinstance(value, int | float):
                limits[name] = float(value)
    return limits.get("min_search_seconds"), limits.get("min_consistency")


def _search_figure(
    workers: pd.DataFrame, limits: tuple[float | None, float | None], name: str
) -> Iterator[Figure]:
    """Yield consistency against search time; nothing where no worker has both."""
    known = workers[workers["mean_search_seconds"].notna() & workers["consistency"].notna()]
    if known.empty:
        return
    excluded = known["excluded"].fillna(value=False).to_numpy(bool)
    seconds = known["mean_search_seconds"].to_numpy(np.float64)
    consistency = known["consistency"].to_numpy(np.float64)
    median, number = f"{np.median(seconds):.0f} seconds", pluralise(len(known), "worker")
    yield Figure(
        name=name,
        title=f"Half of {number} searched for at least {median}",
        draw=partial(
            worker_scatter, seconds=seconds, consistency=consistency, excluded=excluded, limits=limits
        ),
        alt=(
            f"Consistency against mean search time of {number}: median search {median}, mean consistency"
            f" {percent(float(consistency.mean()))}, {int(excluded.sum())} excluded."
        ),
        caption="Each sign is a worker; crosses were left out. Points of equal height are moved apart a little."
        + (" Dashed lines: the limits of the study’s rule." if any(limits) else ""),
    )


def _has_drawn_sides(study: StudyRecord | None, preferences: pd.DataFrame) -> bool:
    """Return whether a study that was served says so of every task."""
    return study is not None and all(map(study.drew_sides, preferences["task"].astype("str").unique()))


def _care(entries: Mapping[str, ParameterEntry], *, has_drawn_sides: bool) -> Iterator[str]:
    """Yield the effect of a side bias, and how repeats were answered.

    The effect depends on how sides were assigned; that is known by provenance, never by a test.
    """
    left, alike = entries.get("left_share"), entries.get("consistency_share")
    if left is not None:
        uneven = [each.sentence for each in left.diagnostics if each.name in UNEVEN_SIDES]
        if has_drawn_sides:
            yield "The sides were drawn by lot, so a lean adds noise and no bias."
        else:
            yield from uneven or [UNKNOWN_SIDES]
    if alike is None:
        yield "No pair was shown twice, so consistency is unknown."
    else:
        yield (
            f"Pairs shown a second time were answered alike in {percent(alike.estimate)}"
            f" ({percent_interval(*alike.interval)}, over workers) of the cases: the same system, or an equal option, both times."
        )
