"""The report's figures and table on MSU: for whom it ranks like ELG, and which system is best for whom.

Compare Fig. 3 to 5 and Table 3 of Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015).
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from calibration.agree.stream_results import FITTED, SPREAD, TaskStreams
from metrics.arrays import Floats
from study_app.report.drawing.stream_figures import Against, BestMap, best_map, one_against_other
from study_app.report.page import Figure, ReportTable
from study_app.report.results import over_few
from study_app.report.wording import counted, decimal, lasting, quantity, slug

MSU_PAPER = "Baruah and others (SIGIR 2015)"
CONVERTED = "Converted: these judgments were made for another kind of collection (metrics.readers.convert)."
SPREAD_IN_WORDS = f"Standard deviations are {SPREAD:g} times the means."
EXTREMES = (("MSU", True, "Fig. 3"), ("MSU", False, "Fig. 4"), ("MSU/s", True, "Fig. 5"))
"""Measure, whether the population that ranks most like ELG is shown or the least, and where the paper does so."""


def msu_extremes(streams: TaskStreams, key: str) -> Iterator[Figure]:
    """Yield the populations for which MSU ranks most and least like ELG (Fig. 3 to 5)."""
    elg = streams.overall("ELG")
    for measure, most, source in EXTREMES:
        sweep = streams.sweep(measure)
        taus = sweep.tau.ravel()
        if np.isnan(taus).all():
            continue
        place = int(np.nanargmax(taus) if most else np.nanargmin(taus))
        equal = int((taus == taus[place]).sum())
        i, j, number = (int(part) for part in np.unravel_index(place, sweep.tau.shape))
        whom = (
            f"away for {lasting(sweep.away[i])}, there for {lasting(sweep.session[j])}, L ="
            f" {sweep.lateness[number]:g}"
        )
        tried = counted(taus.size, "population")
        drawn = Against(
            systems=streams.systems,
            x=elg,
            y=sweep.utility[i, j, number],
            x_label="ELG",
            y_label=measure,
        )
        yield Figure(
            name=f"{key}-{slug(measure.lower())}-{'closest' if most else 'farthest'}",
            title=f"Of {tried} tried, {measure} ranks {'most' if most else 'least'} like ELG for"
            f" people {whom}: τ = {decimal(taus[place])}{over_few(len(elg))}",
            draw=partial(one_against_other, against=drawn),
            alt=f"{measure} against ELG for people {whom}: Kendall’s tau {decimal(taus[place])}.",
            caption=f"Compare {source} of {MSU_PAPER}: of {tried} tried"
            f" {'the one' if equal == 1 else f'the first of {equal}'} of {'highest' if most else 'lowest'} τ."
            f" {SPREAD_IN_WORDS}" + (f" {CONVERTED}" if streams.converted else ""),
        )


def best_figure(streams: TaskStreams, key: str) -> Figure:
    """Return the map of the best system by how long people stay away and how long they stay."""
    sweep, people = streams.sweep("MSU"), streams.people()
    number = int(np.argmin(np.abs(sweep.lateness - people["lateness"])))
    level = f"L = {sweep.lateness[number]:g}"
    everywhere = sweep.utility.argmax(axis=-1)
    best, utility = everywhere[:, :, number], sweep.utility[:, :, number]
    winners = [streams.systems[place] for place in dict.fromkeys(best.ravel().tolist())]
    shares = {name: float((best == streams.systems.index(name)).mean()) for name in winners}
    equal = (utility == utility.max(axis=-1, keepdims=True)).sum(axis=-1).max() > 1
    whose = "the fitted people" if people["people"] == FITTED else "the paper’s reasonable people"
    drawn = BestMap(
        away=[lasting(seconds) for seconds in sweep.away],
        session=[_brief(seconds) for seconds in sweep.session],
        best=best.astype(np.intp),
        systems=streams.systems,
        people=(
            _place(people["away_mean_seconds"], sweep.away),
            _place(people["session_mean_seconds"], sweep.session),
        ),
    )
    return Figure(
        name=f"{key}-best",
        title=_best_title(everywhere, number, winners, level),
        draw=partial(best_map, found=drawn),
        alt=f"Share of the {counted(best.size, 'population')} at {level} for which each system has the highest MSU: "
        + "; ".join(f"{name} {share:.0%}" for name, share in shares.items())
        + ".",
        caption=f"The system of highest MSU at {level}, the nearest of those tried to the people’s, by how long people"
        f" stay away and how long they stay. Ring: {whose}. {SPREAD_IN_WORDS}"
        + (" Of equal systems the first is shown." if equal else "")
        + (f" {CONVERTED}" if streams.converted else ""),
    )


def _best_title(
    everywhere: "np.ndarray[tuple[int, ...], np.dtype[np.intp]]", number: int, winners: list[str], level: str
) -> str:
    """Say who is best: of all populations tried where one system is best for all, else of those at one lateness."""
    alone = len(np.unique(everywhere)) == 1
    tried = everywhere.size if alone else everywhere[:, :, number].size
    at = "" if alone else f" at {level}"
    if len(winners) == 1:
        return f"System {winners[0]} scores highest for all {counted(tried, 'population')} tried{at}"
    return f"Which of {counted(len(winners), 'system')} scores highest{at} depends on the people"


def system_table(streams: TaskStreams, task: str, key: str) -> ReportTable:
    """Return MSU and ELG of every system, and the people for whom it is best (Table 3 of the stream paper)."""
    metrics = ("ELG", "MSU", "MSU/s")
    values = {metric: streams.overall(metric) for metric in ("updates", *metrics)}
    ranks = {metric: _ranks(values[metric]) for metric in metrics}
    rows = []
    for system in np.argsort(ranks["ELG"], kind="stable").tolist():
        best, (away, session, lateness) = streams.best(system)
        rows.append(
            (
                streams.systems[system],
                quantity(values["updates"][system]),
                *(f"{quantity(values[metric][system])} ({ranks[metric][system]})" for metric in metrics),
                str(best),
                lasting(away),
                lasting(session),
                f"{lateness:g}",
            )
        )
    return ReportTable(
        name=f"{key}-systems",
        caption=f"Systems of {task} by ELG and by MSU, and the people for whom each is best"
        + (" (converted)" if streams.converted else ""),
        columns=("System", "Updates", *metrics, "Best rank", "Away", "Visit", "L"),
        rows=tuple(rows),
        note=(
            "Ranks in brackets. Updates: mean over topics. Best rank: over all populations that were tried; of several"
            " that give it, the one of highest MSU: mean time away, mean visit, worth of a nugget one visit late."
        ),
    )


def _brief(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def _place(value: float, grid: Floats) -> float:
    """Return where a value lies along a grid, on the log scale; the ends beyond it."""
    return float(np.interp(np.log(value), np.log(grid), np.arange(len(grid))))


def _ranks(values: Floats) -> list[int]:
    """Return each value's rank from 1, the largest first; equal values share the better rank."""
    return [1 + int((values > value).sum()) for value in values]
