"""The report's part on the workers: who was left out, how they searched, how consistent they were, which side they like."""

import numpy as np
import pandas as pd

from calibration.exclusion import left_out
from calibration.worker_quality import worker_quality
from metrics.query_mean import QueryMean
from study_app.report.figures import worker_scatter
from study_app.report.folder import Material
from study_app.report.page import Figure, Section
from study_app.report.wording import counted, percent, percent_interval

EVEN = 0.5


def workers_section(material: Material, key: str = "workers") -> Section:
    """Return what is known of the workers' care; what the tables lack is said."""
    paragraphs, figures = [], []
    workers, preferences = material.tables.get("workers"), material.tables.get("preferences")
    title = "Nothing is known about the workers"
    if workers is None:
        paragraphs.append("There is no table of workers, so nobody could be left out.")
    else:
        title, sentence = _exclusions(workers)
        paragraphs.append(sentence)
        figures += _figure(workers, _limits(material), f"{key}-scatter")
    if preferences is None:
        paragraphs.append("There is no table of preferences, so sides and repeats cannot be judged.")
    else:
        paragraphs += _care(preferences, workers)
    return Section(
        key=key, title=title, short="Workers", paragraphs=tuple(paragraphs), figures=tuple(figures)
    )


def _exclusions(workers: pd.DataFrame) -> tuple[str, str]:
    out = left_out(workers)
    excluded = int((out == "excluded").sum())
    withdrawn = int((out == "withdrawn").sum())
    completed = int(workers["completed_at"].notna().sum())
    reasons = (
        workers.loc[workers["worker"].isin(out[out == "excluded"].index), "reason"].dropna().value_counts()
    )
    why = ", ".join(f"{reason}: {count}" for reason, count in reasons.items())
    title = f"{excluded} of {counted(len(workers), 'worker')} {'was' if excluded == 1 else 'were'} left out"
    sentence = (
        f"{counted(len(workers), 'worker')} took part and {completed} finished. The study’s rule left out {excluded}"
        + (f" ({why})" if why else "")
        + f"; {withdrawn} withdrew. Their rows are in no fit and in no number above but the one that says so."
    )
    return title, sentence


def _limits(material: Material) -> tuple[float | None, float | None]:
    """Return the smallest search time and consistency that the study accepted."""
    found: dict[str, float] = {}
    for task in material.study.tasks.values() if material.study else ():
        for name in ("min_search_seconds", "min_consistency"):
            value = task.protocol.get(name)
            if isinstance(value, int | float):
                found[name] = float(value)
    return found.get("min_search_seconds"), found.get("min_consistency")


def _figure(workers: pd.DataFrame, limits: tuple[float | None, float | None], key: str) -> list[Figure]:
    known = workers[workers["mean_search_seconds"].notna() & workers["consistency"].notna()]
    if known.empty:
        return []
    excluded = known["excluded"].fillna(value=False).to_numpy(bool)
    seconds = known["mean_search_seconds"].to_numpy(np.float64)
    consistency = known["consistency"].to_numpy(np.float64)
    return [
        Figure(
            title=f"Half of the workers searched for at least {np.median(seconds):.0f} seconds",
            wide=True,
            svg=worker_scatter(seconds, consistency, excluded, limits=limits, key=key),
            alt=(
                f"Consistency against mean search time of {counted(len(known), 'worker')}: median search"
                f" {np.median(seconds):.0f} seconds, mean consistency {percent(float(consistency.mean()))},"
                f" {int(excluded.sum())} excluded."
            ),
            caption="Each sign is a worker; crosses were left out. Points of one height are pulled apart a little."
            + (" Dashed lines: the limits of the study’s rule." if any(limits) else ""),
        )
    ]


def _care(preferences: pd.DataFrame, workers: pd.DataFrame | None) -> list[str]:
    quality = worker_quality(preferences, workers=workers)
    sentences = []
    if quality.left.units:
        low, high = quality.left.confidence_interval()
        verdict = "which shows no lean to a side"
        if not (np.isnan(low) or low <= EVEN <= high):
            verdict = f"a lean to the {'left' if low > EVEN else 'right'}"
        sentences.append(
            f"Of all answers for one side {_share(quality.left)} were for the left one, {verdict}. Sides were drawn by"
            " lot, so a lean adds noise and no bias."
        )
    if quality.consistent.units:
        sentences.append(
            f"Pairs shown a second time were answered alike in {_share(quality.consistent)} of the cases: the same"
            f" system, or an equal option, both times; with the same of the four options in"
            f" {_share(quality.identical)}."
        )
    else:
        sentences.append("No pair was shown twice, so consistency is unknown.")
    return sentences


def _share(mean: QueryMean) -> str:
    low, high = mean.confidence_interval()
    return f"{percent(mean.value)} ({percent_interval(low, high)}, over workers)"
