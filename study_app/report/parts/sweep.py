"""Findings of a sweep of MSU: leading runs, and agreement with other measures."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from metrics.arrays import Floats
from metrics.sweep.equivalent_populations import told_apart
from metrics.sweep.result import MSUSweep, and_more, in_units, in_words, points_equal
from metrics.sweep.tables import LIKE, OTHERS, POPULATION, SWEEP, SYSTEM
from study_app.report.drawing.ranking_figures import SIGNS, best_map, heat_map, one_against_other
from study_app.report.page import (
    LEVEL,
    Column,
    Figure,
    ReportTable,
    Section,
    decimal,
    decimal_interval,
    pluralise,
    quantity,
    slug,
    to_table,
)
from study_app.report.results import over_few

KEY = "sweep"
PAPER = "Baruah and others (SIGIR 2015)"
USUAL_LATENESS, USUAL_SPREAD = 0.5, 0.5
"""The paper's reasonable people: maps show the points of the grid nearest to them."""
MIN_SYSTEMS = 3
MAX_OTHER_MEASURES = 4
"""Measures that are drawn; correlation.csv has all."""
NO_SHARE = (
    "The grid says who could come, not who does: how many points a run leads for is no share of people, and fitted people"
    " stand at one place of it."
)
MAX_EXTREME_POINTS = 10
"""Points that are shown as those where MSU ranks most like another measure."""


class _Slice(NamedTuple):
    """Points of one lateness and spread: rows by time away, columns by session."""

    away: tuple[float, ...]
    session: tuple[float, ...]
    lateness: float
    spread: float

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of these points, in their order."""
        near = [
            np.isclose(rows["lateness"], self.lateness),
            np.isclose(rows["away_sd_seconds"], self.spread * rows["away_mean_seconds"]),
            np.isclose(rows["session_sd_seconds"], self.spread * rows["session_mean_seconds"]),
        ]
        return rows[np.logical_and.reduce(near)]

    @property
    def labels(self) -> tuple[list[str], list[str]]:
        """Labels of rows and columns."""
        return [in_units(seconds) for seconds in self.away], [in_units(seconds) for seconds in self.session]

    @property
    def words(self) -> str:
        """Description of the points."""
        return f"L = {self.lateness:g}; standard deviations are {self.spread:g} times the means."


def sweep_section(sweep: MSUSweep) -> Section:
    """Return everything about a sweep."""
    best, taus, like = sweep.best(), sweep.correlation(), sweep.like()
    few = len(sweep.runs) < MIN_SYSTEMS
    grid = sweep.parts.grid
    lateness = min(grid.lateness, key=lambda value: abs(value - USUAL_LATENESS))
    spread = min(grid.spread, key=lambda value: abs(value - USUAL_SPREAD))
    sweep_slice = _Slice(grid.away_seconds, grid.session_seconds, lateness, spread)
    return Section(
        key=KEY,
        title=sweep_title(sweep, best),
        short="Sweep",
        paragraphs=(_size_in_words(sweep), NO_SHARE),
        figures=() if few else (_leaders(sweep, best, sweep_slice), *_against(sweep, taus, sweep_slice)),
        tables=(_best_table(best), *(() if like is None else (_like_table(like),))),
    )


def sweep_title(sweep: MSUSweep, best: pd.DataFrame) -> str:
    """Return the number of points at which each run leads."""
    leaders = best[best["of"] == POPULATION]["run"].value_counts()
    name, count = str(leaders.index[0]), int(leaders.iloc[0])
    whole = len(sweep.parts.grid)
    if count == whole:
        return f"{name} is best of {pluralise(len(sweep.runs), 'run')} at every one of {pluralise(whole, 'point')}"
    return (
        f"Which of {pluralise(len(sweep.runs), 'run')} leads depends on the people: {pluralise(len(leaders), 'run')} lead"
        f" somewhere, {name} at {count:,} of {pluralise(whole, 'point')}"
    )


def _size_in_words(sweep: MSUSweep) -> str:
    grid = sweep.parts.grid
    return (
        f"{pluralise(len(grid), 'point')}: {pluralise(grid.population_count, 'population')}, each with"
        f" {pluralise(len(grid.lateness), 'lateness decay')}; {pluralise(sweep.users, 'simulated user')} of each;"
        f" {pluralise(len(sweep.runs), 'run')} on {pluralise(len(sweep.topics), 'topic')}."
    )


def _leaders(sweep: MSUSweep, best: pd.DataFrame, sweep_slice: _Slice) -> Figure:
    rows = sweep_slice.of(best[best["of"] == POPULATION])
    names = rows["run"].tolist()
    winners = list(dict.fromkeys(names))
    places = np.array([sweep.runs.index(name) for name in names], dtype=np.intp).reshape(
        len(sweep_slice.away), -1
    )
    away, session = sweep_slice.labels
    equal = int((rows["runs_equal"].astype(int) > 1).sum())
    who = winners[0] if len(winners) == 1 else pluralise(len(winners), "run")
    return Figure(
        name=f"{KEY}-leaders",
        title=f"{who} lead{'s' if len(winners) == 1 else ''} among {pluralise(len(names), 'population')} at L = {sweep_slice.lateness:g}",
        draw=partial(best_map, away=away, session=session, best=places, systems=sweep.runs),
        alt="Run of highest MSU, by how many populations: "
        + "; ".join(f"{name} {names.count(name)}" for name in winners)
        + ".",
        caption=f"The run of highest MSU. {sweep_slice.words}"
        + (f" Of equal runs the first is shown ({pluralise(equal, 'population')})." if equal else ""),
    )


def _against(sweep: MSUSweep, taus: pd.DataFrame, sweep_slice: _Slice) -> Iterator[Figure]:
    """Yield the map of tau, and its two extreme points, for each pair of measures.

    MSU and MSU per second are compared with every other measure.
    """
    others = sweep.others()
    for name in list(others)[1:][:MAX_OTHER_MEASURES]:
        for metric in ("MSU", "MSU/s"):
            rows = taus[(taus["metric"] == metric) & (taus["against"] == name)]
            if rows["tau-b"].isna().all():
                continue
            yield _tau_map(rows, metric, name, sweep_slice)
            values = others[name].to_numpy(np.float64)
            most, least = rows.loc[rows["tau-b"].idxmax()], rows.loc[rows["tau-b"].idxmin()]
            if most["tau-b"] == least["tau-b"]:
                yield _one_point(
                    sweep, rows, most, values, "closest", f"{metric} and {name}, as for everybody,"
                )
            else:
                for row, extreme, how in ((most, "closest", "most"), (least, "farthest", "least")):
                    yield _one_point(sweep, rows, row, values, extreme, f"{metric} ranks {how} like {name}")


def _tau_map(rows: pd.DataFrame, metric: str, other: str, sweep_slice: _Slice) -> Figure:
    values: Floats = sweep_slice.of(rows)["tau-b"].to_numpy(np.float64).reshape(len(sweep_slice.away), -1)
    away, session = sweep_slice.labels
    everywhere, here = _span(rows["tau-b"].to_numpy(np.float64)), _span(values)
    same = everywhere == here and len(set(here)) == 1
    where = "at every point" if same else f"at L = {sweep_slice.lateness:g}"
    return Figure(
        name=f"{KEY}-{slug(metric.lower())}-{slug(other.lower())}",
        title=f"{metric} and {other}: {_span_in_words(here)} {where}"
        + over_few(int(rows["systems"].iloc[0])),
        draw=partial(heat_map, rows=away, columns=session, values=values),
        alt=f"Kendall’s tau of {metric} and {other} by time away and visit: "
        + "; ".join(
            f"{label} {', '.join(map(decimal, of_row))}"
            for label, of_row in zip(away, values.tolist(), strict=True)
        )
        + ".",
        caption=f"Kendall’s τ of {metric} and {other} at {values.size} of {pluralise(len(rows), 'point')}: {sweep_slice.words}"
        + ("" if everywhere == here else f" Over all points: {_span_in_words(everywhere)}.")
        + (" Hatched: below 0." if (values < 0).any() else ""),
    )


def _span(taus: Floats) -> tuple[str, ...]:
    """Return the lowest and highest defined values as text, or nothing."""
    known = taus[~np.isnan(taus)]
    return (decimal(float(known.min())), decimal(float(known.max()))) if known.size else ()


def _span_in_words(span: tuple[str, ...]) -> str:
    if not span:
        return "τ is not defined"
    low, high = span
    return f"τ = {low}" if low == high else f"τ from {low} to {high}"


def _one_point(
    sweep: MSUSweep, rows: pd.DataFrame, row: "pd.Series[Any]", other: Floats, place: str, how: str
) -> Figure:
    """Return the runs by both measures at one of the points in ``rows``.

    ``how`` begins the title.
    """
    metric, name = str(row["metric"]), str(row["against"])
    scores = sweep.at(row)[metric].to_numpy(np.float64)
    equal = points_equal(rows, row)
    whom = f"for people {in_words(row)}" + ("" if equal == len(rows) else and_more(rows, row))
    return Figure(
        name=f"{KEY}-{slug(metric.lower())}-{slug(name.lower())}-{place}",
        title=f"{how} {whom}: τ = {decimal(row['tau-b'])}" + over_few(len(sweep.runs)),
        draw=partial(one_against_other, systems=sweep.runs, x=other, y=scores, labels=(name, metric)),
        alt=f"{metric} against {name} for people {in_words(row)}: Kendall’s tau {decimal(row['tau-b'])}.",
        caption=f"A sign is a run. Compare Fig. 3 to 5 of {PAPER}"
        + (f"; of {pluralise(equal, 'point')} with this τ the first." if equal > 1 else ".")
        + (f" Which run is where: {OTHERS} and {SWEEP}." if len(sweep.runs) > len(SIGNS) else ""),
    )


POINT: tuple[Column, ...] = (
    ("Away", in_units, "away_mean_seconds"),
    ("sd", in_units, "away_sd_seconds"),
    ("Visit", in_units, "session_mean_seconds"),
    ("sd", in_units, "session_sd_seconds"),
    ("L", "{:g}".format, "lateness"),
)


def _best_table(best: pd.DataFrame) -> ReportTable:
    return to_table(
        f"{KEY}-systems",
        "The people for whom each run is best",
        best[best["of"] == SYSTEM].sort_values("rank", kind="stable"),
        (
            ("Run", str, "run"),
            ("Best rank", str, "rank"),
            *POINT,
            ("MSU", quantity, "MSU"),
            ("MSU/s", quantity, "MSU/s"),
        ),
        note=f"Where several points share the best rank, the one with the highest MSU is shown, as in Table 3 of {PAPER}.",
    )


def _like_table(like: pd.DataFrame) -> ReportTable:
    sweep_slice = like.head(MAX_EXTREME_POINTS)
    return to_table(
        f"{KEY}-like",
        f"The people for whom MSU ranks the runs most like {like['against'].iloc[0]}",
        sweep_slice,
        (
            *POINT,
            ("τ", decimal, "tau-b"),
            (f"{LEVEL} interval", decimal_interval, "low", "high"),
            ("τ_AP", decimal, "tau-AP"),
            ("Below", decimal, "below"),
            (f"{LEVEL} interval", decimal_interval, "below_low", "below_high"),
        ),
        note=f"Below: how far τ is below that of the first point. {told_apart(like)} {len(sweep_slice)} of {pluralise(len(like), 'point')}; all of them: {LIKE}.",
    )
