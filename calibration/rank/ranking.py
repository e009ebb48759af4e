"""The ranking of the systems of each task: win rates, worths, the ranks left open, and all duels, as frames."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from calibration.rank.crossed import Errors, Variances, certainly_above, pointwise_level, rank_ranges
from calibration.rank.folder import Ranking
from calibration.rank.judgments import (
    JudgedShares,
    JudgedSystems,
    duels,
    is_balanced,
    tasks_judged,
    win_rates,
)
from calibration.rank.worths import Worths, fit_worths, no_worths, unconnected
from metrics.agreement.comparison import holm
from metrics.arrays import Floats, Ints
from metrics.errors import Fault, InputError, input_fault

LEVEL = 0.95


def rank_systems(
    tables: Mapping[str, pd.DataFrame],
    *,
    task: str | None = None,
    level: float = LEVEL,
    exclude: bool = True,
    complete_only: bool = False,
    seed: int = 1,
    place: str = "preferences",
) -> Ranking:
    """Say which systems of each task people prefer.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        With preferences, and workers where there are exclusions; unfiltered.
    task : str, optional
        Only this task.
    level : float
        Of every interval, and of all ranks of a task at once.
    exclude : bool
        Leave out excluded workers; withdrawn ones and validation repeats never count.
    complete_only : bool
        Count only workers who completed the study.
    seed : int
        Decides the draws behind the ranks.
    place : str
        What faults name.

    Raises
    ------
    InputError
        If there are no preferences that count, no such task, or systems of a task that no comparison connects.
    """
    if "preferences" not in tables:
        raise input_fault(
            "there is no table preferences, so there is nothing to rank",
            path=place,
            cure="only tasks of pairs are ranked",
        )
    judged = list(tasks_judged(tables, exclude=exclude, complete_only=complete_only))
    if not judged:
        raise input_fault("no preference counts", path=place, cure="see who has judged, and who is excluded")
    if task is not None:
        named = [one for one in judged if one.task == task]
        if not named:
            known = ", ".join(one.task for one in judged)
            raise input_fault(
                f"no preference of task {task!r} counts", path=place, cure=f"name one of {known}"
            )
        judged = named
    connected, notes = _connected(judged, place)
    rng = np.random.default_rng(seed)
    ranked = [_ranked(one, level, rng) for one in connected]
    return Ranking(
        ranking=pd.concat([frame for frame, _, _ in ranked], ignore_index=True),
        duels=pd.concat([frame for _, frame, _ in ranked], ignore_index=True),
        level=level,
        notes=(*notes, *(note for _, _, known in ranked for note in known)),
    )


def _connected(judged: list[JudgedSystems], place: str) -> tuple[list[JudgedSystems], list[str]]:
    """Return the tasks whose systems comparisons connect, and say which others are left out.

    Raises
    ------
    InputError
        If no task is left.
    """
    apart = {one.task: groups for one in judged if (groups := unconnected(one))}
    problems = {
        task: f"task {task}: no comparison connects the systems {groups}, so they have no common order"
        for task, groups in apart.items()
    }
    cure = "collect judgments between the groups, or make a task of each"
    if len(apart) == len(judged):
        raise InputError([Fault(problem=problem, cure=cure, path=place) for problem in problems.values()])
    return [one for one in judged if one.task not in apart], [
        f"{problem}; it is left out" for problem in problems.values()
    ]


def _ranked(
    judged: JudgedSystems, level: float, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return the ranking, the duels and the notes of one task."""
    worths, why_none = _worths(judged)  # first what takes more memory than all below
    duel_rows = _duel_rows(judged, level)
    rates = win_rates(judged)
    variances = rates.influence.covariances()
    rank_low, rank_high = ranks_left_open(rates.value, variances, level, rng)
    errors = variances.of_one_each().errors()
    ranking = pd.DataFrame(
        {
            "task": judged.task,
            "system": judged.systems,
            "topics": rates.topics,
            "judgments": rates.judgments,
            **_with_ends("win_rate", "win_low", "win_high", rates.value, errors, level, within=(0, 1)),
            **_worth_columns(worths, len(judged.systems), level),
            "rank_low": rank_low,
            "rank_high": rank_high,
        }
    )
    best_first = np.argsort(-np.round(rates.value, 12), kind="stable")
    notes = [f"{judged.task}: {note}" for note in _notes(judged, rates, errors, worths, why_none)]
    return ranking.iloc[best_first], duel_rows, notes


def ranks_left_open(
    value: Floats, variances: Variances, level: float, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return the best and the worst rank of each win rate that intervals of all differences at once allow."""
    differences = variances.of_differences().errors()
    if np.isnan(differences.df).all():
        return rank_ranges(np.zeros((len(value), len(value)), dtype=bool))
    df = float(np.nanmin(differences.df))
    each = pointwise_level(variances.total(), df, level, rng)
    return rank_ranges(certainly_above(value, differences, each))


def _worths(judged: JudgedSystems) -> tuple[Worths | None, str]:
    """Return the worths, or why there are none."""
    why = no_worths(judged)
    if why:
        return None, why
    try:
        return fit_worths(judged), ""
    except ArithmeticError as error:
        return None, str(error)


def _worth_columns(worths: Worths | None, systems: int, level: float) -> dict[str, Floats]:
    unknown = np.full(systems, np.nan)
    if worths is None:
        return {"worth": unknown, "worth_low": unknown, "worth_high": unknown}
    return _with_ends("worth", "worth_low", "worth_high", worths.worth, worths.variances.errors(), level)


def _with_ends(
    name: str,
    low: str,
    high: str,
    value: Floats,
    errors: Errors,
    level: float,
    *,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> dict[str, Floats]:
    reach = errors.reach(level)
    return {
        name: value,
        low: np.maximum(within[0], value - reach),
        high: np.minimum(within[1], value + reach),
    }


def _duel_rows(judged: JudgedSystems, level: float) -> pd.DataFrame:
    """Return every duel of a task; p is that of a share of one half."""
    met = duels(judged)
    errors = met.shares.influence.variances().errors()
    p = errors.p_values(met.shares.value - 0.5)
    names = np.array(judged.systems, dtype=object)
    return pd.DataFrame(
        {
            "task": judged.task,
            "system_a": names[met.first],
            "system_b": names[met.second],
            "judgments": met.shares.judgments,
            **_with_ends("share_a", "low", "high", met.shares.value, errors, level, within=(0, 1)),
            "p": p,
            "p_holm": holm(p),
        }
    )


def _notes(
    judged: JudgedSystems, rates: JudgedShares, errors: Errors, worths: Worths | None, why_none: str
) -> Iterator[str]:
    """Yield what to know of the ranking of a task."""
    if not is_balanced(judged):
        yield "not every couple was judged on every topic; win rates are over those that were (unbalanced)"
    if (rates.topics == 1).all():
        yield "only one topic was judged, so nothing has an interval"
    elif np.isnan(errors.df).any():
        yield "where there is no interval, all topics are alike or there is only one: too few to say, not certainty"
    if worths is None:
        yield f"no worths: {why_none}"
    elif np.isnan(worths.side):
        yield "the side of a system cannot be told from its worth, so the worths have no side effect"
