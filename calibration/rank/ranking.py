"""Ranking of the systems of each task by preferences, as frames."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from calibration.checks.judges import check_judges
from calibration.checks.same_answers import SameAnswersOption, one_cluster
from calibration.checks.votes import VoteChecks, names_in_two_cases
from calibration.inference.ordinal import no_grades
from calibration.judges.assist import WIN_RATES, assisted_tasks, verdicts_by
from calibration.judges.verdicts import Verdicts
from calibration.rank.assisted import assisted_win_rates
from calibration.rank.best_system import BestSystem, best_system
from calibration.rank.crossed import StandardErrors, Variances, above_at_once, rank_ranges
from calibration.rank.folder import Ranking, shared_notes
from calibration.rank.graded import fit_graded_worths
from calibration.rank.judgments import (
    Duels,
    JudgedSystems,
    duels,
    side_adjustment,
    tasks_judged,
    verdicts_judged,
    win_rates,
)
from calibration.rank.notes import notes_on, notes_on_worths, too_few
from calibration.rank.worths import Worths, fit_worths, no_worths, unconnected
from calibration.tables.people import people_tables
from calibration.tables.preferences import adaptive_tasks, counted_tables
from calibration.tables.study_json import StudyRecord
from metrics.agreement.comparison import holm
from metrics.arrays import Floats, Ints
from metrics.errors import Fault, InputError, input_fault, join_names, pluralise

LEVEL = 0.95
NOT_UNIFORM = "every pair was drawn by the answers before it, so there are no win rates and no ranks"
NOT_CONNECTED = (
    "no pair that was drawn whatever the answers were connects the systems {}, so they have no common order"
)
NO_PLACE = (
    "of {} no pair was drawn whatever the answers were: no win rate, any rank, and the ranks of the others reach as much further down"
    " (adaptive_pairs)"
)
MORE_UNIFORM = "collect more such pairs: raise uniform_share, or the budget"
WITHOUT_JUDGE = (
    "the judge assists win rates alone, those of the pairs drawn whatever the answers were; which system is the best is said by people"
    " alone (adaptive_pairs)"
)


def rank_systems(  # noqa: PLR0913 - one argument an option of the command
    tables: Mapping[str, pd.DataFrame],
    *,
    task: str | None = None,
    within: Literal["topic"] | None = None,
    level: float = LEVEL,
    exclude: bool = True,
    complete_only: bool = False,
    study: StudyRecord | None = None,
    same_answers: SameAnswersOption = "apart",
    checks: VoteChecks | None = None,
    assist: Verdicts | None = None,
    ordinal: bool = False,
    place: str = "preferences",
) -> Ranking:
    """Rank the systems of each task by the preferences of people.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        With preferences, and workers where there are exclusions; unfiltered.
    task : str, optional
        Only this task.
    within : 'topic', optional
        Rank the systems or items of each topic for itself: topics are fixed, and intervals are over people.
    level : float
        Of every interval, and of all ranks of a task, or of a topic, at once.
    exclude : bool
        Leave out excluded workers; withdrawn ones and validation repeats never count.
    complete_only : bool
        Count only workers who completed the study.
    study : StudyRecord, optional
        study.json of the tables. In tasks of a study that was served, sides were drawn by lot, and win rates are as people voted;
        in all others they are without the effect of the side.
    same_answers : {'apart', 'one-cluster'}
        Workers who give the same answers count apart, or each group of them as one person; they are named either way.
    checks : VoteChecks, optional
        Those of these tables, where an agreement shares them.
    assist : DataFrame, optional
        Verdicts of one judge that is no person (`calibration.judges.assist.verdicts_by`), to assist the win rates of people with.
    ordinal : bool
        Take worths and ranks from the strength of graded answers (`calibration.rank.graded`); tasks whose answers are not graded are left out.
    place : str
        What faults name.

    Raises
    ------
    InputError
        If there are no preferences that count, no such task, systems of a task that no comparison connects, or verdicts that assist nothing.
    """
    if ordinal and within is not None:
        raise input_fault("ordinal goes not with within: it ranks over topics", cure="leave one of them out")
    if "preferences" not in tables:
        raise input_fault(
            "there is no table preferences, so there is nothing to rank",
            path=place,
            cure="only tasks of pairs are ranked",
        )
    tables = people_tables(tables)
    checks = checks or VoteChecks(tables=tables, exclude=exclude, complete_only=complete_only)
    same = checks.same
    votes = {name: tables[name] for name in ("preferences", "workers") if name in tables}
    if same_answers == "one-cluster":
        tables = one_cluster(votes, same)
    judge = partial(
        tasks_judged,
        tables,
        exclude=exclude,
        complete_only=complete_only,
        study=study,
        by_topic=within == "topic",
    )
    judged = list(judge())
    adaptive = adaptive_tasks(tables["preferences"])
    every = judge(adaptive=True) if adaptive else ()
    whole = {each.label: each for each in every if each.task in adaptive}
    drawn_by_answers = [label for label in whole if label not in {each.label for each in judged}]
    if not judged and whole:
        raise input_fault(f"task {drawn_by_answers[0]}: {NOT_UNIFORM}", path=place, cure=MORE_UNIFORM)
    if not judged:
        raise input_fault("no preference counts", path=place, cure="see who has judged, and who is excluded")
    if task is not None:
        named = [each for each in judged if each.task == task]
        if not named:
            known = ", ".join(dict.fromkeys(each.task for each in judged))
            raise input_fault(
                f"no preference of task {task!r} counts", path=place, cure=f"name one of {known}"
            )
        judged = named
    connected, notes = _connected(judged, place, whole=whole)
    notes += [f"task {label}: {NOT_UNIFORM}; it is left out" for label in drawn_by_answers]
    counted = counted_tables(votes, exclude=exclude, complete_only=complete_only)["preferences"]
    notes += [
        f"{name}: {finding.sentence.removesuffix('.')} ({finding.name})"
        for name in dict.fromkeys(each.task for each in connected)
        for finding in (
            *([checks.stopping[name]] if name in checks.stopping else ()),
            *check_judges(counted[counted["task"] == name]),
        )
    ]
    notes += names_in_two_cases(tables["preferences"])
    notes += [
        f"{each.said(as_one=same_answers == 'one-cluster').removesuffix('.')} (same_answers)" for each in same
    ]
    if ordinal:
        connected, about_grades = _graded(connected, whole, place)
        notes += about_grades
    ranked = {
        each.task if len(connected) == 1 else each.label: _ranked(
            each, level, whole.get(each.label), ordinal=ordinal
        )
        for each in connected
    }
    assisted, about_judge = ([], []) if assist is None else _assisted(connected, assist, level, study)
    about_judge += [f"{label}: {WITHOUT_JUDGE}" for label in whole if len(assisted)]
    about_each = [(label, note) for label, each in ranked.items() for note in each.notes]
    return _ranking(
        ranked,
        level,
        notes=(*notes, *about_judge, *shared_notes(about_each, within)),
        knows_workers=all(each.worker is not None for each in connected),
        within=within,
        assisted=pd.DataFrame(assisted, columns=list(WIN_RATES)),
        ordinal=ordinal,
    )


def _graded(
    judged: list[JudgedSystems], whole: Mapping[str, JudgedSystems], place: str
) -> tuple[list[JudgedSystems], list[str]]:
    """Return the tasks whose answers are graded, and notes on the others; raises `InputError` if no task is left."""
    why_not = {
        each.label: "its pairs are adaptive, and their best system is by choices alone"
        if each.label in whole
        else no_grades(each.strength)
        for each in judged
    }
    graded = [each for each in judged if not why_not[each.label]]
    problems = [f"task {label}: {why}" for label, why in why_not.items() if why]
    if not graded:
        cure = "rank by choices alone, without ordinal, or give a strength to every answer for a side (column strength)"
        raise InputError([Fault(problem=problem, cure=cure, path=place) for problem in problems])
    return graded, [f"{problem}; it is left out" for problem in problems]


def rank_by_judge(
    verdicts: pd.DataFrame,
    name: str,
    *,
    task: str | None = None,
    level: float = LEVEL,
    place: str = "preferences",
) -> Ranking:
    """Rank the systems of each task by the verdicts of one judge that is no person.

    Parameters
    ----------
    verdicts : DataFrame
        As `calibration.judges.verdicts.split_verdicts` returns them.
    name : str
        The judge. Its answers without a use count for nothing, and its contradictions between orders are ties.
    task, level, place
        As in `rank_systems`; intervals are over topics.

    Raises
    ------
    InputError
        If there is no such judge, no such task, or systems of a task that no comparison connects.
    """
    own = verdicts_by(name, verdicts, path=place)
    judged = [each for each in verdicts_judged(own) if task in {None, each.task}]
    if not judged:
        raise input_fault(
            f"no usable verdict of {name}", path=place, cure="name a task that the judge judged"
        )
    connected, notes = _connected(judged, place, by_judge=True)
    ranked = {each.label: _ranked(each, level) for each in connected}
    unusable = int((own["vote"] == "no_answer").sum())
    if unusable:
        notes.append(f"{pluralise(unusable, 'verdict')} of {len(own):,} without a usable answer, left out")
    about_each = (f"{label}: {note}" for label, each in ranked.items() for note in each.notes)
    return _ranking(ranked, level, notes=(*notes, *about_each), knows_workers=False, raters=name)


def _assisted(
    judged: list[JudgedSystems], verdicts: Verdicts, level: float, study: StudyRecord | None
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return rows and notes of all tasks, with why others have none; fail where no task has any."""
    if judged[0].fixed_topic is not None:
        raise input_fault(
            "a judge assists numbers over topics, and with topics fixed there are none",
            cure="rank over topics, without within",
        )
    return assisted_tasks(partial(assisted_win_rates, verdicts=verdicts, level=level, study=study), judged)


def _connected(
    judged: list[JudgedSystems],
    place: str,
    *,
    by_judge: bool = False,
    whole: Mapping[str, JudgedSystems] = MappingProxyType({}),
) -> tuple[list[JudgedSystems], list[str]]:
    """Return the tasks whose systems are connected, and notes on the others.

    Raises
    ------
    InputError
        If no task is left.
    """
    faults = {
        each.label: (f"task {each.label}: {NOT_CONNECTED.format(groups)}", MORE_UNIFORM)
        if each.label in whole
        else _apart(each, groups, by_judge=by_judge)
        for each in judged
        if (groups := unconnected(each))
    }
    if len(faults) == len(judged):
        raise InputError([Fault(problem=problem, cure=cure, path=place) for problem, cure in faults.values()])
    return [each for each in judged if each.label not in faults], [
        f"{problem}; it is left out" for problem, _ in faults.values()
    ]


def _apart(judged: JudgedSystems, groups: str, *, by_judge: bool) -> tuple[str, str]:
    """Return the problem of a task with unconnected systems or items, with a hint."""
    topics = int(judged.topic.max()) + 1
    places = np.concatenate([judged.left, judged.right]) * topics + np.tile(judged.topic, 2)
    items = len(judged.systems)
    if len(np.unique(places)) == items and topics > 1:  # each was judged on one topic alone
        what = f"its {items:,} items belong to one of {topics:,} topics each, and items of different topics never meet"
        return (
            f"task {judged.task}: {what}, so they have no common order",
            "people rank each topic for itself, without --raters: --within topic"
            if by_judge
            else "rank each topic for itself: --within topic",
        )
    return (
        f"task {judged.label}: no comparison connects the systems {groups}, so they have no common order",
        "collect judgments between the groups, or make a task of each",
    )


class _RankedTask(NamedTuple):
    """Ranking of one task: frames, notes, and a sentence on too few clusters."""

    ranking: pd.DataFrame
    duels: pd.DataFrame
    notes: list[str]
    too_few: str
    best: BestSystem | None


def _ranking(ranked: Mapping[str, _RankedTask], level: float, **more: Any) -> Ranking:
    """Put the rankings of tasks below each other."""
    return Ranking(
        ranking=pd.concat([each.ranking for each in ranked.values()], ignore_index=True),
        duels=pd.concat([each.duels for each in ranked.values()], ignore_index=True),
        level=level,
        too_few={label: each.too_few for label, each in ranked.items() if each.too_few},
        best_systems={label: each.best for label, each in ranked.items() if each.best is not None},
        **more,
    )


def _ranked(
    judged: JudgedSystems, level: float, whole: JudgedSystems | None = None, *, ordinal: bool = False
) -> _RankedTask:
    """Return the ranking of one task.

    ``whole``: the judgments of a task with adaptive pairs, those of these pairs too. Worths and the best system are from them, the rest
    from ``judged``. ``ordinal``: worths are by graded answers, and ranks by worths.
    """
    worths, why_none = _worths(
        whole or judged, ordinal=ordinal
    )  # first what takes more memory than all below
    rates = win_rates(judged)
    few = too_few(judged, rates)
    # What too few people or topics said is told as they said it: nothing is inferred from it, the side's effect neither.
    adjustment = None if few else side_adjustment(judged)
    if adjustment is not None:
        del rates  # as long as the judgments, and so are the next
        rates = win_rates(judged, adjustment)
    variances = rates.influence.covariances()
    task_duels = duels(judged, adjustment)
    if not ordinal:
        rank_low, rank_high = ranks_left_open(rates.value, variances, level)
    elif worths is None or few:
        rank_low, rank_high = (
            np.ones(len(judged.systems), dtype=np.intp),
            np.full(len(judged.systems), len(judged.systems)),
        )
    else:
        rank_low, rank_high = ranks_left_open(worths.worth, worths.covariances, level)
    errors = variances.of_each().errors()
    columns = {
        **_keys(judged),
        "system": judged.systems,
        "topics": rates.topics,
        "judgments": rates.judgments,
        **_with_ends("win_rate", "win_low", "win_high", rates.value, errors, level, within=(0, 1)),
        "win_rate_raw": rates.raw,
        **_worth_columns(worths, _places(judged, whole), level, known=whole is not None or not few),
        "rank_low": rank_low,
        "rank_high": rank_high,
    }
    frame = pd.DataFrame(columns)
    unplaced = [name for name in whole.systems if name not in judged.systems] if whole is not None else []
    if whole is not None and unplaced:  # any of them may be above or below the others
        frame["rank_high"] += len(unplaced)
        places = np.array([whole.systems.index(name) for name in unplaced], dtype=np.intp)
        own = _worth_columns(worths, places, level, known=True)
        ends = {"topics": 0, "judgments": 0, "rank_low": 1, "rank_high": len(frame) + len(unplaced)}
        rows = pd.DataFrame({"system": unplaced, **own}).assign(**_keys(judged), **ends)
        frame = pd.concat([frame, rows], ignore_index=True)
    by_worth = worths is not None and (whole is not None or ordinal)
    best_first = np.argsort(-frame["worth" if by_worth else "win_rate"].round(12).to_numpy(), kind="stable")
    best = None if whole is None else best_system(whole, worths, level, uniform=len(judged.left))
    notes = [
        *([] if best is None else [_on_adaptive(best)]),
        *([NO_PLACE.format(join_names(unplaced))] if unplaced else []),
        *notes_on(judged, rates, errors, task_duels, adjustment),
        *notes_on_worths(worths, why_none, adjustment),
    ]
    return _RankedTask(
        ranking=frame.iloc[best_first],
        duels=_duel_rows(judged, task_duels, level, known=not few),
        notes=notes,
        too_few=few,
        best=best,
    )


def _places(judged: JudgedSystems, whole: JudgedSystems | None) -> Ints:
    """Return the index of each system among those of the whole."""
    names = judged.systems if whole is None else whole.systems
    return np.array([names.index(system) for system in judged.systems], dtype=np.intp)


def _on_adaptive(best: BestSystem) -> str:
    return (
        f"pairs were chosen by the answers before them, to find the best system: worths are of all {best.judgments:,} judgments; win rates,"
        f" ranks and duels are of the {best.uniform:,} whose pairs were drawn whatever the answers were (adaptive_pairs)"
    )


def _keys(judged: JudgedSystems) -> dict[str, str]:
    """Return the columns that say what a row of a ranking is about."""
    return {"task": judged.task} | ({} if judged.fixed_topic is None else {"topic": judged.fixed_topic})


def ranks_left_open(value: Floats, variances: Variances, level: float) -> tuple[Ints, Ints]:
    """Return the best and worst rank of each win rate.

    They follow from simultaneous intervals of all differences.
    """
    reach = variances.of_differences().errors().simultaneous_reach(level, len(value))
    return rank_ranges(above_at_once(value, reach))


def _worths(judged: JudgedSystems, *, ordinal: bool = False) -> tuple[Worths | None, str]:
    """Return the worths, by choices alone or by graded answers, or why they are missing."""
    why = "" if ordinal else no_worths(judged)
    if why:
        return None, why
    try:
        return fit_graded_worths(judged) if ordinal else fit_worths(judged), ""
    except ArithmeticError as error:
        return None, str(error)


def _worth_columns(worths: Worths | None, places: Ints, level: float, *, known: bool) -> dict[str, Floats]:
    unknown = np.full(len(places), np.nan)
    if worths is None:
        return {"worth": unknown, "worth_low": unknown, "worth_high": unknown}
    if not known:
        return {"worth": worths.worth[places], "worth_low": unknown, "worth_high": unknown}
    ends = _with_ends("worth", "worth_low", "worth_high", worths.worth, worths.variances.errors(), level)
    return {name: values[places] for name, values in ends.items()}


def _with_ends(
    name: str,
    low: str,
    high: str,
    value: Floats,
    errors: StandardErrors,
    level: float,
    *,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> dict[str, Floats]:
    reach = errors.half_width(level)
    return {
        name: np.clip(value, *within),
        low: np.clip(value - reach, *within),
        high: np.clip(value + reach, *within),
    }


def _duel_rows(judged: JudgedSystems, task_duels: Duels, level: float, *, known: bool) -> pd.DataFrame:
    """Return the rows of every duel of a task.

    p tests a share of one half. Shares alone are given where people or topics are too few.
    """
    errors = task_duels.shares.influence.variances().errors()
    if not known:
        errors = errors.unknown()
    p = errors.p_values(task_duels.shares.value - 0.5)
    names = np.array(judged.systems, dtype=object)
    return pd.DataFrame(
        {
            **_keys(judged),
            "system_a": names[task_duels.first],
            "system_b": names[task_duels.second],
            "judgments": task_duels.shares.judgments,
            **_with_ends("share_a", "low", "high", task_duels.shares.value, errors, level, within=(0, 1)),
            "p": p,
            "p_holm": holm(p),
        }
    )
