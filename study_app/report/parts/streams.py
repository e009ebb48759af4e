"""Findings on streams: correlations of measures, and the best systems."""

from collections.abc import Iterator
from functools import partial
from operator import itemgetter

import numpy as np
import pandas as pd

from calibration.agree.folder import (
    DEFAULT_ALPHA,
    FITTED,
    PUSH,
    PUSH_MEASURE_PAIRS,
    SPREAD,
    STREAM_KINDS,
    UPDATE_COUPLES,
    UPDATES,
    TaskStreamScores,
    of_task,
)
from calibration.user_model.model import UserModel
from metrics.arrays import Floats
from metrics.errors import join_names, percent
from study_app.report.drawing.ranking_figures import best_map, one_against_other, tau_over_alpha
from study_app.report.folder import ReportInputs
from study_app.report.page import (
    LEVEL,
    Figure,
    ReportTable,
    Section,
    brief,
    decimal,
    decimal_interval,
    duration_phrase,
    pluralise,
    quantity,
    slug,
    stretch,
    to_table,
)
from study_app.report.results import MIN_RANKED_SYSTEMS, TOO_FEW, over_few

MSU_PAPER = "Baruah and others (SIGIR 2015)"
CONVERTED = "Converted: these judgments were made for another kind of collection (metrics.push.conversion)."
SPREAD_IN_WORDS = f"Standard deviations are {SPREAD:g} times the means."
EXTREMES = (("MSU", True, "Fig. 3"), ("MSU", False, "Fig. 4"), ("MSU/s", True, "Fig. 5"))
"""Measure, extreme of its correlation with ELG, and the paper's source.

The extreme says whether the population that ranks most or least like ELG is displayed.
"""

MIN_SYSTEMS = 3
"""Systems from which a rank correlation says anything."""

DOTTED = " Dotted: what a system that never pushes scores."
PUSH_PAPER = "Tan and others (SIGIR 2016)"
PUSH_FIGURES = ("1, left,", "1, middle,", "1, right,", "2, left,", "2, middle,", "2, right,", "3")
SOURCES = {
    couple: f"Fig. {number} of {PUSH_PAPER}"
    for couple, number in zip(PUSH_MEASURE_PAIRS, PUSH_FIGURES, strict=True)
} | {couple: f"Fig. 2{letter} of {MSU_PAPER}" for couple, letter in zip(UPDATE_COUPLES, "ab", strict=True)}
"""Place in a paper at which two measures are compared, by the two."""

PUSH_COLUMNS = ("ELG-1", "ELG-0", "nCG-1", "nCG-0", "T11U", "silence-precision", "silence-recall")
LABELS = {"silence-precision": "silence precision", "silence-recall": "silence recall"}
"""Axis label of a measure, where it is not its column."""


def msu_extremes(streams: TaskStreamScores, key: str) -> Iterator[Figure]:
    """Yield the populations for which MSU ranks most and least like ELG (Fig. 3 to 5)."""
    elg = streams.overall("ELG")
    for measure, most, source in EXTREMES:
        sweep = streams.sweep(measure)
        taus = sweep.tau.ravel()
        if np.isnan(taus).all():
            continue
        index = int(np.nanargmax(taus) if most else np.nanargmin(taus))
        equal = int((taus == taus[index]).sum())
        i, j, number = (int(part) for part in np.unravel_index(index, sweep.tau.shape))
        whom = (
            f"away for {duration_phrase(sweep.away[i])}, there for {duration_phrase(sweep.session[j])}, L ="
            f" {sweep.lateness[number]:g}"
        )
        populations = pluralise(taus.size, "population")
        draw = partial(
            one_against_other,
            systems=streams.systems,
            x=elg,
            y=sweep.utility[i, j, number],
            labels=("ELG", measure),
        )
        yield Figure(
            name=f"{key}-{slug(measure.lower())}-{'closest' if most else 'farthest'}",
            title=f"Of {populations} tried, {measure} ranks {'most' if most else 'least'} like ELG for"
            f" people {whom}: τ = {decimal(taus[index])}{over_few(len(elg))}",
            draw=draw,
            alt=f"{measure} against ELG for people {whom}: Kendall’s tau {decimal(taus[index])}.",
            caption=f"Compare {source} of {MSU_PAPER}: of {populations} tried"
            f" {'the one' if equal == 1 else f'the first of {equal}'} of {'highest' if most else 'lowest'} τ."
            f" {SPREAD_IN_WORDS}" + (f" {CONVERTED}" if streams.converted else ""),
        )


def best_figure(streams: TaskStreamScores, key: str) -> Figure:
    """Return the map of the best system by time away and session length."""
    sweep, people = streams.sweep("MSU"), streams.people()
    number = int(np.argmin(np.abs(sweep.lateness - people["lateness"])))
    level = f"L = {sweep.lateness[number]:g}"
    everywhere = sweep.utility.argmax(axis=-1)
    best, utility = everywhere[:, :, number], sweep.utility[:, :, number]
    winners = [streams.systems[index] for index in dict.fromkeys(best.ravel().tolist())]
    shares = {name: float((best == streams.systems.index(name)).mean()) for name in winners}
    equal = (utility == utility.max(axis=-1, keepdims=True)).sum(axis=-1).max() > 1
    whose = "the fitted people" if people["people"] == FITTED else "the paper’s reasonable people"
    draw = partial(
        best_map,
        away=[duration_phrase(seconds) for seconds in sweep.away],
        session=[brief(seconds) for seconds in sweep.session],
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
        draw=draw,
        alt=f"Share of the {pluralise(best.size, 'population')} at {level} for which each system has the highest MSU: "
        + "; ".join(f"{name} {percent(share)}" for name, share in shares.items())
        + ".",
        caption=f"The system of highest MSU at {level}, the nearest of those tried to the people’s, by how long people"
        f" stay away and how long they stay. Ring: {whose}. {SPREAD_IN_WORDS}"
        + (" Of equal systems the first is shown." if equal else "")
        + (f" {CONVERTED}" if streams.converted else ""),
    )


def _best_title(
    everywhere: "np.ndarray[tuple[int, ...], np.dtype[np.intp]]", number: int, winners: list[str], level: str
) -> str:
    """Return the best system over all populations, or over those of one lateness."""
    alone = len(np.unique(everywhere)) == 1
    point_count = everywhere.size if alone else everywhere[:, :, number].size
    at = "" if alone else f" at {level}"
    if len(winners) == 1:
        return f"System {winners[0]} scores highest for all {pluralise(point_count, 'population')} tried{at}"
    return f"Which of {pluralise(len(winners), 'system')} scores highest{at} depends on the people"


def system_table(streams: TaskStreamScores, task: str, key: str) -> ReportTable:
    """Return MSU and ELG of every system, and the people for whom it is best.

    Table 3 of the stream paper has this form.
    """
    metrics = ("ELG", "MSU", "MSU/s")
    values = pd.DataFrame({name: streams.overall(name) for name in ("updates", *metrics)})
    ranks = values.rank(ascending=False, method="min").add_suffix(" rank")
    best = [(rank, *people) for rank, people in map(streams.best, range(len(streams.systems)))]
    peoples = pd.DataFrame(best, columns=["best", "away", "session", "lateness"])
    rows = pd.concat([values, ranks, peoples], axis=1).assign(system=streams.systems)
    return to_table(
        f"{key}-systems",
        f"Systems of {task} by ELG and by MSU, and the people for whom each is best"
        + (" (converted)" if streams.converted else ""),
        rows.sort_values("ELG rank", kind="stable"),
        (
            ("System", str, "system"),
            ("Updates", quantity, "updates"),
            *((name, _ranked, name, f"{name} rank") for name in metrics),
            ("Best rank", str, "best"),
            ("Away", duration_phrase, "away"),
            ("Visit", duration_phrase, "session"),
            ("L", "{:g}".format, "lateness"),
        ),
        note=(
            "Ranks in brackets. Updates: mean over topics. Best rank: over all populations that were tried; of several"
            " that give it, the one of highest MSU: mean time away, mean visit, worth of a nugget one visit late."
        ),
    )


def _ranked(value: float, rank: float) -> str:
    return f"{quantity(value)} ({quantity(rank)})"


def _place(value: float, grid: Floats) -> float:
    """Return the position of a value on a grid in log scale, ends included."""
    return float(np.interp(np.log(value), np.log(grid), np.arange(len(grid))))


def stream_sections(material: ReportInputs) -> Iterator[Section]:
    """Yield the sections on the streams of each task.

    Where they could not be scored it gives the reason.
    """
    for task, record in material.study.tasks.items() if material.study is not None else ():
        key = f"streams-{slug(task)}"
        pushes, updates = (of_task(material.streams, task, form) for form in (PUSH, UPDATES))
        if task in material.streams.unscored:
            yield _why_not(task, material.streams.unscored[task], key)
        elif record.kind in STREAM_KINDS and (pushes or updates):
            yield _section(task, pushes, updates, material.model, key)


def _short(task: str) -> str:
    """Return the name of a section in the list of sections.

    A task that is called streams needs no second word.
    """
    return "Streams" if task.lower() == "streams" else f"Streams, {task}"


def _why_not(task: str, reason: str, key: str) -> Section:
    return Section(
        key=key,
        title=f"The streams of {task} are not scored",
        short=_short(task),
        paragraphs=(f"Their collection and runs cannot be used: {reason}.",),
    )


def _section(
    task: str,
    pushes: TaskStreamScores | None,
    updates: TaskStreamScores | None,
    model: UserModel | None,
    key: str,
) -> Section:
    """Return the section of a task.

    The task's own measures come first, converted ones after them.
    """
    parts: list[tuple[bool, list[Figure], ReportTable]] = []
    paragraphs = []
    if updates is not None:
        paragraphs.append(_people_in_words(updates))
        figures = [
            *_pairs(updates, UPDATE_COUPLES, key),
            *msu_extremes(updates, key),
            best_figure(updates, key),
        ]
        parts.append((updates.converted, figures, system_table(updates, task, key)))
    if pushes is not None:
        figures = [*_pairs(pushes, PUSH_MEASURE_PAIRS, key), *_alpha_figure(pushes, model, key)]
        parts.append((pushes.converted, figures, push_table(pushes, task, key)))
    parts.sort(key=itemgetter(0))
    first, measure = _first(pushes, updates)
    few = len(first.systems) < MIN_SYSTEMS
    if few:
        paragraphs.append(
            "With fewer than three systems no rank correlation says anything: nothing is drawn."
        )
    return Section(
        key=key,
        title=_title(task, first, measure),
        short=_short(task),
        paragraphs=tuple(paragraphs),
        figures=() if few else tuple(figure for _, figures, _ in parts for figure in figures),
        tables=tuple(table for _, _, table in parts),
    )


def _first(pushes: TaskStreamScores | None, updates: TaskStreamScores | None) -> tuple[TaskStreamScores, str]:
    """Return the own scores of a task, of updates or pushes, and their measure.

    Every task has one of the two.
    """
    if pushes is not None and (updates is None or updates.converted):
        return pushes, "ELG-1"
    if updates is None:
        raise TypeError("nothing was scored")
    return updates, "MSU"


def _title(task: str, streams: TaskStreamScores, measure: str) -> str:
    values = streams.overall(measure)
    best = [name for name, value in zip(streams.systems, values, strict=True) if value == np.nanmax(values)]
    is_fitted = measure == "MSU" and streams.people()["people"] == FITTED
    systems = f"system {best[0]} scores" if len(best) == 1 else f"systems {join_names(best)} score"
    return (
        f"Streams of {task}: {'for the fitted people ' if is_fitted else ''}{systems} highest of"
        f" {pluralise(len(values), 'system')} by {measure}"
    )


def _people_in_words(streams: TaskStreamScores) -> str:
    people = streams.people()
    who = (
        "the people who were fitted"
        if people["people"] == FITTED
        else "the paper’s reasonable people, since none were fitted"
    )
    return (
        f"MSU is for {who}: away for {duration_phrase(people['away_mean_seconds'])} and there for"
        f" {duration_phrase(people['session_mean_seconds'])} on average, a nugget one visit late being worth"
        f" {decimal(people['lateness'])}. Every measure is over all judged topics."
    )


def _pairs(streams: TaskStreamScores, couples: tuple[tuple[str, str], ...], key: str) -> Iterator[Figure]:
    """Yield a figure for each couple of measures that enough systems have."""
    for metrics in couples:
        x, y = (streams.overall(metric) for metric in metrics)
        names = LABELS.get(metrics[0], metrics[0]), LABELS.get(metrics[1], metrics[1])
        tau, low, high = streams.tau(*metrics)
        known = ~np.isnan(x + y)
        if known.sum() < MIN_SYSTEMS:
            continue
        empty = streams.empty(metrics[0]), streams.empty(metrics[1])
        draw = partial(
            one_against_other,
            systems=tuple(np.asarray(streams.systems)[known].tolist()),
            x=x[known],
            y=y[known],
            labels=names,
            at=empty,
        )
        yield Figure(
            name=f"{key}-{'-'.join(slug(metric.lower()) for metric in metrics)}",
            title=f"{names[0]} and {names[1]} over {pluralise(int(known.sum()), 'system')}: {tau_in_words(tau, low, high, int(known.sum()))}",
            draw=draw,
            alt=f"{names[1]} against {names[0]}: "
            + "; ".join(
                f"{name} {decimal(float(a))}, {decimal(float(b))}"
                for name, a, b in zip(streams.systems, x, y, strict=True)
            ),
            caption=f"Compare {SOURCES[metrics]}; {pluralise(int(known.sum()), 'system')}."
            + (DOTTED if empty != (None, None) else "")
            + (f" {CONVERTED}" if streams.converted else ""),
        )


def tau_in_words(tau: float, low: float, high: float, systems: int) -> str:
    """Format a rank correlation with its interval.

    With too few systems it returns that remark.
    """
    value = f"τ = {decimal(tau)}"
    if systems < MIN_RANKED_SYSTEMS:
        return f"{value}, {TOO_FEW}"
    return f"{value} ({decimal_interval(low, high)})"


def _alpha_figure(pushes: TaskStreamScores, model: UserModel | None, key: str) -> Iterator[Figure]:
    curve = pushes.along_alpha()
    alphas, tau, low, high = (curve[name].to_numpy(np.float64) for name in ("alpha", "tau", "low", "high"))
    if np.isnan(tau).all():
        return
    marks = {f"default, {DEFAULT_ALPHA:g}": DEFAULT_ALPHA}
    entry = None if model is None else model.parameters.get("push_alpha")
    if entry is not None and entry.estimate is not None:
        marks[f"fitted, {decimal(entry.estimate)}"] = entry.estimate
    highest = int(np.nanargmax(tau))
    where = stretch(alphas.tolist(), (tau == tau[highest]).tolist(), decimal, before="α = ")
    yield Figure(
        name=f"{key}-alpha",
        title=f"Of the α tried, T11U is nearest to ELG-1, τ = {decimal(tau[highest])}, {where}"
        + over_few(len(pushes.systems)),
        draw=partial(tau_over_alpha, alphas=alphas, tau=tau, band=(low, high), marks=marks),
        alt=(
            f"Kendall’s tau of T11U and ELG-1: {decimal(tau[0])} at alpha 0, {decimal(tau[highest])} at"
            f" {decimal(alphas[highest])}, {decimal(tau[-1])} at 1."
        ),
        caption=f"Compare Fig. 4 of {PUSH_PAPER}."
        + (f" Band: {LEVEL} interval over topics, point by point." if np.isfinite(low).any() else "")
        + (f" {CONVERTED}" if pushes.converted else ""),
    )


def push_table(pushes: TaskStreamScores, task: str, key: str) -> ReportTable:
    """Return every system by every push measure."""
    values = pd.DataFrame({name: pushes.overall(name) for name in PUSH_COLUMNS}).assign(system=pushes.systems)
    return to_table(
        f"{key}-push",
        f"Systems of {task} by the measures of push notifications"
        + (" (converted)" if pushes.converted else ""),
        values,
        (("System", str, "system"), *((name, quantity, name) for name in PUSH_COLUMNS)),
        note="T11U at α = 0.66, summed over days. A dash: the system is never quiet, or no day is silent.",
    )
