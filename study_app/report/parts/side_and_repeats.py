"""Two figures on workers: repeats answered alike beyond chance, and the side they lean to."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd

from calibration.inference.results import LEVEL as SHARE_LEVEL
from calibration.raters.consistency import clopper_pearson, consistency_by_worker
from calibration.tables.preferences import left_out
from calibration.user_model.model import ParameterEntry
from metrics.arrays import Bools
from study_app.report.drawing.worker_figures import Shares, worker_shares
from study_app.report.page import Figure
from study_app.report.wording import LEVEL, NO_INTERVAL, counted, decimal, percent, percent_interval

EVEN = 0.5
SIDED = ("left", "right")
CAPTION = (
    f"Each sign is a worker with an exact {LEVEL} interval; crosses were left out. Band across: all counted workers"
    " together. Dashed: "
)


def consistency_figure(
    preferences: pd.DataFrame, workers: pd.DataFrame | None, entries: Mapping[str, ParameterEntry], name: str
) -> list[Figure]:
    """Return each worker's consistency beyond chance; nothing where no pair was shown twice."""
    found = consistency_by_worker(preferences).dropna(subset=["kappa"])
    overall = entries.get("consistency_kappa")
    if found.empty or overall is None:
        return []
    low, high = _ends(overall)
    share = entries["consistency_share"].estimate
    return [
        Figure(
            name=name,
            title=(
                f"Beyond chance repeats are answered alike with kappa {decimal(overall.estimate)}"
                f" ({_interval(overall)})"
            ),
            draw=partial(
                worker_shares,
                shares=Shares(
                    value=found["kappa"].to_numpy(np.float64),
                    low=np.maximum(found["kappa_low"].to_numpy(np.float64), -1.0),
                    high=found["kappa_high"].to_numpy(np.float64),
                    excluded=_excluded(found["worker"], workers),
                    reference=0.0,
                    overall=(low, high),
                    label="kappa of the repeats",
                    as_percent=False,
                ),
            ),
            alt=(
                f"Consistency beyond chance of {counted(len(found), 'worker')}: together kappa"
                f" {decimal(overall.estimate)}, {percent(share)} of the repeats answered alike;"
                f" {int((found['kappa'] <= 0).sum())} not beyond chance."
            ),
            caption=CAPTION + "what the same habits would give without looking.",
        )
    ]


def side_figure(
    preferences: pd.DataFrame, workers: pd.DataFrame | None, entries: Mapping[str, ParameterEntry], name: str
) -> list[Figure]:
    """Return each worker's share of left among the answers for a side; nothing where nobody chose a side."""
    first = preferences[preferences["validation_of"].isna() & preferences["choice"].isin(SIDED)]
    overall = entries.get("left_share")
    if first.empty or overall is None or overall.estimate is None:
        return []
    counts = (first["choice"] == "left").groupby(first["worker"]).agg(["sum", "size"])
    low, high = clopper_pearson(counts["sum"], counts["size"], SHARE_LEVEL)
    ends = _ends(overall)
    leaning = int(((low > EVEN) | (high < EVEN)).sum())
    lean = ": no lean that shows" if ends[0] <= EVEN <= ends[1] else ": a lean"
    return [
        Figure(
            name=name,
            title=(
                f"{percent(overall.estimate)} of the answers for a side are for the left one"
                f" ({percent_interval(*ends)}){'' if np.isnan(ends).any() else lean}"
            ),
            draw=partial(
                worker_shares,
                shares=Shares(
                    value=(counts["sum"] / counts["size"]).to_numpy(np.float64),
                    low=low,
                    high=high,
                    excluded=_excluded(counts.index.to_series(), workers),
                    reference=EVEN,
                    overall=ends,
                    label="answers for the left side",
                    as_percent=True,
                ),
            ),
            alt=(
                f"Share of left answers of {counted(len(counts), 'worker')}: together {percent(overall.estimate)},"
                f" {leaning} with an interval that leaves out one half."
            ),
            caption=CAPTION + "one half, no lean.",
        )
    ]


def _excluded(names: "pd.Series[str]", workers: pd.DataFrame | None) -> Bools:
    return np.asarray(names.isin(left_out(workers).index), dtype=np.bool_)


def _ends(entry: ParameterEntry) -> tuple[float, float]:
    low, high = entry.interval
    return (np.nan if low is None else low), (np.nan if high is None else high)


def _interval(entry: ParameterEntry) -> str:
    low, high = entry.interval
    return NO_INTERVAL if low is None or high is None else f"{decimal(low)} to {decimal(high)}"
