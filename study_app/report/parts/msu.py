"""The report's figures on MSU: for whom it ranks like ELG, and which system is best for whom.

Compare Fig. 3 to 5 of Baruah, Smucker, Clarke: Evaluating Streams of Evolving News Events (SIGIR 2015).
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from metrics.agreement.correlation import kendall_tau_b
from study_app.report.claims import over_few
from study_app.report.drawing.stream_figures import Against, BestMap, best_map, one_against_other
from study_app.report.page import Figure
from study_app.report.parts.fit_titles import lasting
from study_app.report.stream_scores import (
    AWAY_SECONDS,
    CONVERTED,
    LATENESSES,
    SESSION_SECONDS,
    SPREAD,
    StreamScores,
)
from study_app.report.wording import counted, decimal, slug

MSU_PAPER = "Baruah and others (SIGIR 2015)"
SPREAD_IN_WORDS = f"Standard deviations are {SPREAD:g} times the means."


def msu_extremes(scores: StreamScores, key: str) -> Iterator[Figure]:
    """Yield the populations for which MSU ranks most and least like ELG (Fig. 3 to 5)."""
    if scores.updates is None or scores.sweep is None:
        return
    elg = scores.updates.overall["ELG"]
    for measure, values, most, source in (
        ("MSU", scores.sweep.msu, True, "Fig. 3"),
        ("MSU", scores.sweep.msu, False, "Fig. 4"),
        ("MSU/s", scores.sweep.per_second, True, "Fig. 5"),
    ):
        taus = np.array([kendall_tau_b(elg, row) for row in values.reshape(-1, values.shape[-1])])
        if np.isnan(taus).all():
            continue
        place = int(np.nanargmax(taus) if most else np.nanargmin(taus))
        equal = int((taus == taus[place]).sum())
        i, j, number = np.unravel_index(place, values.shape[:-1])
        whom = _population(int(i), int(j), int(number))
        yield Figure(
            name=f"{key}-{slug(measure.lower())}-{'closest' if most else 'farthest'}",
            title=f"Of {counted(taus.size, 'population')} tried, {measure} ranks {'most' if most else 'least'} like ELG for"
            f" people {whom}: τ = {decimal(taus[place])}{over_few(len(elg))}",
            draw=partial(
                one_against_other,
                against=Against(
                    systems=scores.updates.systems,
                    x=elg,
                    y=values.reshape(-1, values.shape[-1])[place],
                    x_label="ELG",
                    y_label=measure,
                ),
            ),
            alt=f"{measure} against ELG for people {whom}: Kendall’s tau {decimal(taus[place])}.",
            caption=f"Compare {source} of {MSU_PAPER}: of {counted(taus.size, 'population')} tried"
            f" {'the one' if equal == 1 else f'the first of {equal}'} of {'highest' if most else 'lowest'} τ. {SPREAD_IN_WORDS}"
            + (f" {CONVERTED}" if scores.updates_converted else ""),
        )


def best_figure(scores: StreamScores, key: str) -> Iterator[Figure]:
    """Yield the map of the best system by how long people stay away and how long they stay."""
    if scores.updates is None or scores.sweep is None:
        return
    number = int(np.argmin(np.abs(np.array(LATENESSES) - scores.lateness)))
    everywhere = scores.sweep.msu.argmax(axis=-1)
    best = everywhere[:, :, number]
    winners = [scores.updates.systems[one] for one in dict.fromkeys(best.ravel().tolist())]
    shares = {name: float((best == scores.updates.systems.index(name)).mean()) for name in winners}
    tried = best if len(np.unique(everywhere)) > 1 else everywhere
    level = f" at L = {LATENESSES[number]:g}" if tried is best else ""
    title = (
        f"System {winners[0]} scores highest for all {counted(tried.size, 'population')} tried{level}"
        if len(winners) == 1
        else f"Which of {counted(len(winners), 'system')} scores highest{level} depends on the people"
    )
    utility = scores.sweep.msu[:, :, number]
    equal = (utility == utility.max(axis=-1, keepdims=True)).sum(axis=-1).max() > 1
    people = scores.population
    where = (
        _place(people.away_mean_seconds, AWAY_SECONDS),
        _place(people.session_mean_seconds, SESSION_SECONDS),
    )
    yield Figure(
        name=f"{key}-best",
        title=title,
        draw=partial(
            best_map,
            found=BestMap(
                away=[lasting(one) for one in AWAY_SECONDS],
                session=[_brief(one) for one in SESSION_SECONDS],
                best=best.astype(np.intp),
                systems=scores.updates.systems,
                people=where,
            ),
        ),
        alt=f"Share of the {counted(best.size, 'population')} at L = {LATENESSES[number]:g} for which each system has the highest MSU: "
        + "; ".join(f"{name} {share:.0%}" for name, share in shares.items())
        + ".",
        caption=f"The system of highest MSU at L = {LATENESSES[number]:g}, the nearest of those tried to the people’s, by how long people stay away and how long"
        f" they stay. Ring: {'the fitted people' if scores.is_fitted else 'the paper’s reasonable people'}. {SPREAD_IN_WORDS}"
        + (" Of equal systems the first is shown." if equal else "")
        + (f" {CONVERTED}" if scores.updates_converted else ""),
    )


def _population(away: int, session: int, lateness: int) -> str:
    return (
        f"away for {lasting(AWAY_SECONDS[away])}, there for {lasting(SESSION_SECONDS[session])}, L ="
        f" {LATENESSES[lateness]:g}"
    )


def _brief(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def _place(value: float, grid: tuple[float, ...]) -> float:
    """Return where a value lies along a grid, on the log scale; the ends beyond it."""
    return float(np.interp(np.log(value), np.log(grid), np.arange(len(grid))))
