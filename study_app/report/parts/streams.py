"""The report's findings on streams: how their measures are related, and which system is best for whom."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from calibration.tables.sources import TaskSources, study_sources
from calibration.user_model.model import UserModel
from metrics.errors import InputError
from metrics.wording import listed
from study_app.report.claims import over_few, ranked_alike
from study_app.report.drawing.stream_figures import (
    Against,
    one_against_other,
    tau_over_alpha,
)
from study_app.report.folder import Material
from study_app.report.page import Figure, Section, Table
from study_app.report.parts.fit_titles import lasting
from study_app.report.parts.msu import MSU_PAPER, best_figure, msu_extremes
from study_app.report.parts.stream_tables import push_table, system_table
from study_app.report.stream_scores import (
    ALPHAS,
    CONVERTED,
    DEFAULT_ALPHA,
    MEASURE_NAMES,
    PAIRS_KIND,
    PushScores,
    Scored,
    StreamScores,
    stream_scores,
)
from study_app.report.wording import LEVEL, counted, decimal, slug, stretch

STREAMS = (PAIRS_KIND, "stream_visits")
FEWEST_SYSTEMS = 3
"""Systems from which a rank correlation says anything."""

DOTTED = " Dotted: what a system that never pushes scores."


class Pair(NamedTuple):
    """Two measures to be held against each other, and which figure of which paper shows it."""

    x: str
    y: str
    source: str


PUSH_PAPER = "Tan and others (SIGIR 2016)"
PUSH_PAIRS = (
    Pair("ELG-1", "nCG-1", f"Fig. 1, left, of {PUSH_PAPER}"),
    Pair("ELG-1", "ELG-0", f"Fig. 1, middle, of {PUSH_PAPER}"),
    Pair("nCG-1", "nCG-0", f"Fig. 1, right, of {PUSH_PAPER}"),
    Pair("silence-precision", "ELG-1", f"Fig. 2, left, of {PUSH_PAPER}"),
    Pair("silence-recall", "ELG-1", f"Fig. 2, middle, of {PUSH_PAPER}"),
    Pair("silence-precision", "silence-recall", f"Fig. 2, right, of {PUSH_PAPER}"),
    Pair("ELG-1", "T11U", f"Fig. 3 of {PUSH_PAPER}"),
)
UPDATE_PAIRS = (Pair("ELG", "MSU", f"Fig. 2a of {MSU_PAPER}"), Pair("LC", "MSU", f"Fig. 2b of {MSU_PAPER}"))


def stream_sections(material: Material) -> Iterator[Section]:
    """Yield what there is to say on the streams of each task; why not, where files are missing or faulty."""
    tasks = [] if material.study is None else list(material.study.tasks)
    for task, sources in study_sources(material.tables_folder, tasks).items():
        if sources.kind in STREAMS:
            yield _scored_or_why_not(task, sources, material.model, f"streams-{slug(task)}")


def _scored_or_why_not(task: str, sources: TaskSources, model: UserModel | None, key: str) -> Section:
    reason = "; ".join(replace(sources, kind=PAIRS_KIND).problems)
    if not reason:
        try:
            return _section(task, stream_scores(sources, model), model, key)
        except InputError as error:
            reason = str(error.faults[0])
    return Section(
        key=key,
        title=f"The streams of {task} are not scored",
        short=f"Streams, {task}",
        paragraphs=(f"Their collection and runs cannot be used: {reason}.",),
    )


def _section(task: str, scores: StreamScores, model: UserModel | None, key: str) -> Section:
    """Return the section of a task: what its judgments were made for first, what was converted after it."""
    parts: list[tuple[bool, list[Figure], Table]] = []
    paragraphs = []
    if scores.updates is not None:
        converted = scores.updates_converted
        paragraphs.append(_people_in_words(scores))
        figures = [
            *_pairs(scores.updates, UPDATE_PAIRS, key, converted=converted),
            *msu_extremes(scores, key),
            *best_figure(scores, key),
        ]
        parts.append((converted, figures, system_table(scores, task, key)))
    if scores.pushes is not None:
        pushes = scores.pushes
        figures = [
            *_pairs(pushes.scored, PUSH_PAIRS, key, converted=pushes.converted, empty=dict(pushes.empty)),
            *_alpha_figure(pushes, model, key),
        ]
        parts.append((pushes.converted, figures, push_table(pushes, task, key)))
    parts.sort(key=itemgetter(0))
    few = len(_first(scores).systems) < FEWEST_SYSTEMS
    if few:
        paragraphs.append(
            "With fewer than three systems no rank correlation says anything: nothing is drawn."
        )
    return Section(
        key=key,
        title=_title(task, scores),
        short=f"Streams, {task}",
        paragraphs=tuple(paragraphs),
        figures=() if few else tuple(figure for _, figures, _ in parts for figure in figures),
        tables=tuple(table for _, _, table in parts),
    )


def _first(scores: StreamScores) -> Scored:
    """Return the scores as what the streams are, updates or pushes; there always are the ones or the others."""
    if scores.pushes is not None and (scores.updates is None or scores.updates_converted):
        return scores.pushes.scored
    if scores.updates is None:
        raise TypeError("nothing was scored")
    return scores.updates


def _title(task: str, scores: StreamScores) -> str:
    scored = _first(scores)
    measure = "MSU" if scored is scores.updates else "ELG-1"
    values = scored.overall[measure]
    best = [name for name, value in zip(scored.systems, values, strict=True) if value == np.nanmax(values)]
    whom = "for the fitted people " if measure == "MSU" and scores.is_fitted else ""
    systems = f"system {best[0]} scores" if len(best) == 1 else f"systems {listed(best)} score"
    return f"Streams of {task}: {whom}{systems} highest of {counted(len(values), 'system')} by {measure}"


def _people_in_words(scores: StreamScores) -> str:
    people = scores.population
    who = (
        "the people who were fitted"
        if scores.is_fitted
        else "the paper’s reasonable people, since none were fitted"
    )
    return (
        f"MSU is for {who}: away for {lasting(people.away_mean_seconds)} and there for"
        f" {lasting(people.session_mean_seconds)} on average, a nugget one visit late being worth"
        f" {decimal(scores.lateness)}. Every measure is over all judged topics."
    )


def _pairs(
    scored: Scored,
    pairs: tuple[Pair, ...],
    key: str,
    *,
    converted: bool,
    empty: dict[str, float] | None = None,
) -> Iterator[Figure]:
    empty = empty or {}
    for pair in pairs:
        tau, interval = scored.tau(pair.x, pair.y), scored.tau_interval(pair.x, pair.y)
        x, y = (MEASURE_NAMES.get(name, name) for name in (pair.x, pair.y))
        known = ~np.isnan(scored.overall[pair.x] + scored.overall[pair.y])
        if known.sum() < FEWEST_SYSTEMS:
            continue
        dotted = pair.x in empty or pair.y in empty
        yield Figure(
            name=f"{key}-{slug(pair.x.lower())}-{slug(pair.y.lower())}",
            title=ranked_alike(x, y, tau, interval, int(known.sum())),
            draw=partial(
                one_against_other,
                against=Against(
                    systems=tuple(
                        name for name, is_known in zip(scored.systems, known, strict=True) if is_known
                    ),
                    x=scored.overall[pair.x][known],
                    y=scored.overall[pair.y][known],
                    x_label=x,
                    y_label=y,
                    at_x=empty.get(pair.x),
                    at_y=empty.get(pair.y),
                ),
            ),
            alt=f"{y} against {x}: "
            + "; ".join(
                f"{name} {decimal(float(a))}, {decimal(float(b))}"
                for name, a, b in zip(
                    scored.systems, scored.overall[pair.x], scored.overall[pair.y], strict=True
                )
            ),
            caption=f"Compare {pair.source}; {counted(int(known.sum()), 'system')}."
            + (DOTTED if dotted else "")
            + (f" {CONVERTED}" if converted else ""),
        )


def _alpha_figure(pushes: PushScores, model: UserModel | None, key: str) -> Iterator[Figure]:
    tau = pushes.tau_over_alpha
    if np.isnan(tau).all():
        return
    marks = {f"default, {DEFAULT_ALPHA:g}": DEFAULT_ALPHA}
    entry = None if model is None else model.parameters.get("push_alpha")
    if entry is not None and entry.estimate is not None:
        marks[f"fitted, {decimal(entry.estimate)}"] = entry.estimate
    highest = int(np.nanargmax(tau))
    where = stretch(ALPHAS.tolist(), (tau == tau[highest]).tolist(), decimal, before="α = ")
    yield Figure(
        name=f"{key}-alpha",
        title=f"Of the α tried, T11U is nearest to ELG-1, τ = {decimal(tau[highest])}, {where}"
        + over_few(len(pushes.scored.systems)),
        draw=partial(
            tau_over_alpha,
            alphas=ALPHAS,
            tau=tau,
            band=(pushes.tau_low, pushes.tau_high),
            marks=marks,
        ),
        alt=(
            f"Kendall’s tau of T11U and ELG-1: {decimal(tau[0])} at alpha 0, {decimal(tau[highest])} at"
            f" {decimal(ALPHAS[highest])}, {decimal(tau[-1])} at 1."
        ),
        caption=f"Compare Fig. 4 of {PUSH_PAPER}."
        + (
            f" Band: {LEVEL} interval over topics, point by point."
            if np.isfinite(pushes.tau_low).any()
            else ""
        )
        + (f" {CONVERTED}" if pushes.converted else ""),
    )
