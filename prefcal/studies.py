"""Steps of a study as functions of paths or frames.

They do what `prefcal fit`, `agree`, `simulate` and `report` do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from calibration.agree.agree_tables import agree as agree_with
from calibration.agree.result import KEYWORDS, AgreementTables, NamedComparisons
from calibration.agree.score_sources import ScoreSources, read_scores
from calibration.checks.same_answers import SameAnswersOption
from calibration.fit.families import FitOptions
from calibration.fit.user_model_fit import UserModelFit, fit_user_model
from calibration.interchange.preferences import (
    Imported,
    ImportRules,
    PreferenceColumns,
    read_foreign_preferences,
)
from calibration.interchange.seconds import LengthRules
from calibration.interchange.times import TimeRules
from calibration.judges.assist import verdicts_by
from calibration.judges.verdicts import Verdicts, split_verdicts
from calibration.rank.folder import Ranking
from calibration.rank.ranking import LEVEL, rank_by_judge, rank_systems
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.tables.criteria import by_criterion
from calibration.tables.definition import Tables
from calibration.tables.files import checked_tables, read_tables, tables_sha256
from calibration.tables.people import people_tables
from calibration.tables.plausibility import warn_of_doubts
from calibration.tables.sources import study_sources
from calibration.tables.study_json import read_study
from calibration.user_model.draws import draw_model
from calibration.user_model.model import UserModel, read_user_model
from metrics.errors import input_fault
from metrics.readers.any_table import TableRules
from metrics.results import check_several
from study_app.report.build import write_report
from study_app.report.drawing.style import read_look

FolderOrFrames: TypeAlias = str | Path | Mapping[str, pd.DataFrame]
"""Folder of tables, or frames by table name.

docs/tables.md has the columns; `pandas.read_csv` gives the types.
"""

Model: TypeAlias = UserModelFit | UserModel | str | Path
"""Result of `fit`, its ``model``, or a user-model file.

`write_user_model` and `prefcal fit` write such files.
"""


def fit(tables: FolderOrFrames, *, seed: int = 1, options: FitOptions | None = None) -> UserModelFit:
    """Fit every user-model parameter that the tables allow.

    Parameters
    ----------
    tables : str, Path, or mapping of str to DataFrame
        A folder, whose study.json is read too, or plain frames; both are checked alike.
    seed : int
        Of every resampling: the same tables and seed give the same model.
    options : FitOptions, optional
        Whose rows count, and how; the usual choices by default.

    Returns
    -------
    UserModelFit
        ``params``, ``frame()``, ``summary()``; ``model`` for scores, ``results`` for each fit. What the tables cannot tell is in
        ``skipped``.

    Raises
    ------
    InputError
        With every fault of every table.
    NotIdentifiedError
        If visits are to be cut anew and there is no table activity.

    Examples
    --------
    How sure five people are, who voted for an intent each:

    >>> import pandas as pd
    >>> import prefcal
    >>> votes = pd.DataFrame(
    ...     {"worker": list("abcdef"), "topic": "t1", "intent": ["i1"] * 4 + ["i2"] * 2}
    ... )
    >>> fitted = prefcal.fit({"intent_votes": votes})
    >>> {intent: round(entry.estimate, 2) for intent, entry in fitted.model.intents["t1"].items()}
    {'i1': 0.62, 'i2': 0.38}
    """
    _check_level((options or FitOptions()).level)
    _same_answers((options or FitOptions()).same_answers)
    folder = _folder(tables)
    return fit_user_model(
        _split(tables)[0],
        seed=seed,
        options=options,
        record=None if folder is None else read_study(folder),
        tables_sha256=None if folder is None else tables_sha256(folder),
    )


def agree(  # noqa: PLR0913 - one argument an option of the command
    tables: FolderOrFrames,
    *,
    model: Model | None = None,
    draws: int | None = None,
    scores: str | Path | pd.DataFrame | None = None,
    lengths: str | Path | pd.DataFrame | None = None,
    collection: Mapping[str, str | Path] | None = None,
    runs: Mapping[str, str | Path] | None = None,
    measures: Sequence[str] = (),
    primary: tuple[str, str] | None = None,
    compare: Sequence[str] = (),
    by: str | None = None,
    complete_only: bool = False,
    same_answers: SameAnswersOption = "apart",
    assist: str | None = None,
    ordinal: bool = False,
    seed: int = 1,
) -> AgreementTables:
    """Measure how well measures agree with the preferences of a study.

    Parameters
    ----------
    tables : str, Path, or mapping of str to DataFrame
        A folder, whose study.json names collections and runs, or plain frames.
    model : UserModelFit, UserModel, str or Path, optional
        Fitted parameters. What they took from these preferences is cross-fitted, but for a model whose ``tables_sha256``
        says that it was fitted to another folder.
    draws : int, optional
        How often the model is drawn, for the columns draw_low and draw_high.
    scores : str, Path or DataFrame, optional
        run, topic, metric, value: measures of your own, and the frames that `score_summaries` and the others return.
    lengths : str, Path or DataFrame, optional
        run, topic, metric, value: how long each side is, for judges that are no people; by default the characters of what was shown.
    collection, runs : mapping of str to path, optional
        Kind of file -> file and system -> run, in place of those that study.json names.
    measures : sequence of str
        Names of measures to add, such as ``"M@840"`` or, for ranked lists, ``"nDCG@10"``.
    primary : (str, str), optional
        The comparison that counts, by names of measures.
    compare : sequence of str
        More measures to compare with the first of them.
    by : str, optional
        Count what people answered about this criterion (table criteria), in place of the overall choices.
    complete_only : bool
        Count only workers who completed the study.
    same_answers : {'apart', 'one-cluster'}
        Workers who give the same answers count apart, or each group of them as one person; they are named either way.
    assist : str, optional
        A judge that is no person and judged more pairs than people did: its verdicts assist people's numbers (prediction-powered).
    ordinal : bool
        Compare measures in a model of graded answers (column ``strength``), too: rows of ``comparisons`` by grades.
    seed : int
        Of everything that is drawn.

    Returns
    -------
    AgreementTables
        ``frame()``, ``summary()``, the frames agreement, comparisons, curve, pairs, disagreements, and ``judges`` with what judges
        that are no people are worth.

    Raises
    ------
    InputError
        If a file or frame has a fault, or nothing can be compared; see `calibration.agree.agree_tables.agree`.

    Examples
    --------
    Four judgments of two pairs, and scores of one's own:

    >>> import pandas as pd
    >>> import prefcal
    >>> votes = pd.DataFrame(
    ...     {
    ...         "worker": ["w1", "w2", "w3"] * 2,
    ...         "task": "lists",
    ...         "topic": ["t1"] * 3 + ["t2"] * 3,
    ...         "pair": "A-B",
    ...         "system_left": "A",
    ...         "system_right": "B",
    ...         "choice": ["left", "left", "right", "left", "right", "left"],
    ...     }
    ... )
    >>> scores = pd.DataFrame(
    ...     {
    ...         "run": ["A", "B"] * 2,
    ...         "topic": ["t1"] * 2 + ["t2"] * 2,
    ...         "metric": "nDCG",
    ...         "value": [0.6, 0.4, 0.3, 0.5],
    ...     }
    ... )
    >>> found = prefcal.agree({"preferences": votes}, scores=scores)
    >>> float(found.frame().loc[("lists", "nDCG", "against"), "agreement"])
    0.5
    """
    check_several(measures, "measures")
    check_several(compare, "compare")
    if primary is not None and (isinstance(primary, str) or len(primary) != 2):
        raise input_fault(
            f"primary is {primary!r}", cure='give the names of two measures: ("M@1500", "M@840")'
        )
    folder, (given, verdicts) = _folder(tables), _split(tables, by)
    judged = given["preferences"]["task"].unique().tolist() if "preferences" in given else []
    fitted = None if model is None else _user_model(model)
    drawn = draw_model(fitted, draws, seed) if fitted and draws else None
    study = None if folder is None else read_study(folder)
    evidence = ScoreSources(
        tables=given,
        verdicts=verdicts,
        sources=study_sources(folder, judged, collection=_paths(collection), runs=_paths(runs)),
        model=fitted,
        drawn=drawn.models(fitted) if fitted and drawn else (),
        same_tables=fitted is not None and _of_these_tables(fitted, folder),
        scores=None if scores is None else read_scores(scores),
        lengths=None if lengths is None else read_scores(lengths, name="lengths"),
        seed=seed,
        place=_place(tables, "preferences"),
        scores_place="scores" if scores is None or isinstance(scores, pd.DataFrame) else str(scores),
        by=by,
        study=study,
        arguments=KEYWORDS,
    )
    wanted = NamedComparisons(primary=primary, compare=tuple(compare)) if primary or compare else None
    found = agree_with(
        evidence,
        named_comparisons=wanted,
        measures=measures,
        complete_only=complete_only,
        same_answers=_same_answers(same_answers),
        assist=assist,
        ordinal=ordinal,
        seed=seed,
    )
    kept = drawn.kept if drawn else {}
    return replace(
        found, notes=(*(f"{what} is not drawn, since {why}" for what, why in kept.items()), *found.notes)
    )


def rank(  # noqa: PLR0913 - one argument an option of the command
    tables: FolderOrFrames,
    *,
    task: str | None = None,
    within: Literal["topic"] | None = None,
    raters: str | None = None,
    by: str | None = None,
    level: float = LEVEL,
    exclude: bool = True,
    complete_only: bool = False,
    same_answers: SameAnswersOption = "apart",
    assist: str | None = None,
    ordinal: bool = False,
    seed: int = 1,  # noqa: ARG001 - as in the other steps
) -> Ranking:
    """Rank systems by preference: win rates, worths, open ranks, and duels.

    Parameters
    ----------
    tables : str, Path, or mapping of str to DataFrame
        A folder, or plain frames: preferences, and workers where some are excluded. In a folder whose study.json says that the study was
        served, sides were drawn by lot; from all others the effect of the side is taken off.
    task : str, optional
        Only this task.
    within : 'topic', optional
        Rank the systems or items of each topic for itself: topics are fixed, and intervals are over people, four or more.
    raters : str, optional
        Rank by the verdicts of this judge, a worker of kind model, in place of people's answers; ``raters`` of the result says so, and it cannot be
        written with `write_ranking`.
    by : str, optional
        Count what people answered about this criterion (table criteria), in place of the overall choices.
    level : float
        Of every interval, and of all ranks of a task, or of a topic, at once.
    exclude : bool
        Leave out excluded workers; withdrawn ones never count.
    complete_only : bool
        Count only workers who completed the study.
    same_answers : {'apart', 'one-cluster'}
        Workers who give the same answers count apart, or each group of them as one person; they are named either way.
    assist : str, optional
        A judge that is no person and judged more pairs than people did: its verdicts assist people's numbers (prediction-powered).
    ordinal : bool
        Take worths and ranks from the strength of graded answers (column ``strength``), in place of the choices alone.
    seed : int
        Changes nothing, since ranks need no random draw; accepted as in the other steps.

    Returns
    -------
    Ranking
        ``frame()``, ``summary()``, and the frames ``ranking`` and ``duels``; ``assisted`` with ``assist``.

    Raises
    ------
    InputError
        If a file or frame has a fault, no preference counts, or no comparison connects the systems.

    Examples
    --------
    >>> import pandas as pd
    >>> import prefcal
    >>> votes = pd.DataFrame(
    ...     {
    ...         "worker": ["w1", "w2", "w3"] * 2,
    ...         "task": "lists",
    ...         "topic": ["t1"] * 3 + ["t2"] * 3,
    ...         "pair": "A-B",
    ...         "system_left": "A",
    ...         "system_right": "B",
    ...         "choice": ["left", "left", "right", "left", "right", "left"],
    ...     }
    ... )
    >>> prefcal.rank({"preferences": votes}).frame()["win_rate"].round(2).to_dict()
    {('lists', 'A'): 0.67, ('lists', 'B'): 0.33}
    """
    _check_level(level)
    folder = _folder(tables)
    place = _place(tables, "preferences")
    people, verdicts = _split(tables, by)
    if raters is not None:
        if within is not None or assist is not None or ordinal:
            raise input_fault("raters goes not with within, assist or ordinal", cure="leave one of them out")
        return replace(rank_by_judge(verdicts, raters, task=task, level=level, place=place), by=by)
    ranking = rank_systems(
        people,
        task=task,
        within=within,
        level=level,
        exclude=exclude,
        complete_only=complete_only,
        same_answers=_same_answers(same_answers),
        study=None if folder is None else read_study(folder),
        assist=None if assist is None else verdicts_by(assist, verdicts),
        ordinal=ordinal,
        place=place,
    )
    return replace(ranking, by=by)


def judge_requests(
    study: str | Path,
    *,
    tables: FolderOrFrames | None = None,
    orders: Literal["both", "one"] = "both",
    samples: int = 1,
    prompt: str | Path | None = None,
) -> list[dict[str, Any]]:
    """Return what a judge that is no person is asked about the pairs of a study.

    Parameters
    ----------
    study : str or Path
        A study file.
    tables : str, Path, or mapping of str to DataFrame, optional
        Only the pairs that people judged in these tables.
    orders : {'both', 'one'}
        Each pair in both orders of its sides, or in one that is drawn by lot.
    samples : int
        How often each of these is asked.
    prompt : str or Path, optional
        A prompt file of your own; prefcal's of the kind of task and its language by default.

    Returns
    -------
    list of dict
        As the lines of `prefcal judge requests`: id, task, topic, pair, order, sample, messages, choices, prompt_sha256, study_sha256.
        ``messages`` is what clients of chat completions take; an answer is a line with ``id`` and ``choice`` or ``text``.

    Raises
    ------
    InputError
        If the study, the tables or the prompt have a fault, or no pair is left.

    Examples
    --------
    >>> import prefcal
    >>> requests = prefcal.judge_requests("examples/answers/study.yaml")  # doctest: +SKIP
    >>> requests[0]["choices"]  # doctest: +SKIP
    ['A', 'B', 'equally_good', 'equally_bad']
    """
    from study_app.estimate.content import read_whole_study  # noqa: PLC0415 - like the next, not needed by other steps
    from study_app.judges.requests import judged_couples, make_requests  # noqa: PLC0415 - pages come with it

    judged = None if tables is None else judged_couples(_checked(tables))
    requests = make_requests(
        read_whole_study(study), judged=judged, orders=orders, samples=samples, prompt=prompt
    )
    return list(requests)


def simulate(study: SimulatedStudy | None = None, *, seed: int = 1, activity: bool = False) -> Tables:
    """Draw all tables of a study whose truth is known.

    The tables show what a study of its size could find.

    Parameters
    ----------
    study : Study, optional
        How large it is, and its people.
    seed : int
        Of every draw.
    activity : bool
        Draw table activity too, the largest of all.

    Returns
    -------
    dict of str to DataFrame
        As `read_tables` returns them; `fit`, `agree` and `write_tables` take them.

    Raises
    ------
    ValueError
        If such a study, or such people, cannot be drawn.

    Examples
    --------
    >>> import prefcal
    >>> tables = prefcal.simulate(prefcal.SimulatedStudy(workers=6, topics=2))
    >>> len(tables["follows"])
    6
    """
    return simulate_study(study or SimulatedStudy(), np.random.default_rng(seed), activity=activity)


def read_verdicts(tables: FolderOrFrames) -> pd.DataFrame:
    """Return the verdicts of judges that are no people, one row a verdict.

    Parameters
    ----------
    tables : str, Path, or mapping of str to DataFrame
        A folder, or plain frames, with workers of kind model in table workers.

    Returns
    -------
    DataFrame
        judge, model, prompt_sha256, task, topic, pair, system_a, system_b (system_a < system_b), order (1 or 2; missing where it is not
        known, or the verdict is over both), is_swapped (system_a stood on the right), repeat, vote (votes_a, votes_b, equally_good, equally_bad,
        no_answer, contradicts), decided_at; by judge, task, topic, pair, order and repeat. `fit`, `agree` and `rank` never count
        them with people's answers.

    Raises
    ------
    InputError
        If a file or frame has a fault.

    Examples
    --------
    >>> import pandas as pd
    >>> import prefcal
    >>> rows = pd.DataFrame(
    ...     {
    ...         "worker": ["w1", "rule", "rule"],
    ...         "task": "lists",
    ...         "topic": "t1",
    ...         "system_left": ["A", "A", "B"],
    ...         "system_right": ["B", "B", "A"],
    ...         "choice": ["left", "left", "right"],
    ...         "order": [None, 1, 2],
    ...     }
    ... )
    >>> workers = pd.DataFrame({"worker": ["rule"], "kind": ["model"]})
    >>> verdicts = prefcal.read_verdicts({"preferences": rows, "workers": workers})
    >>> verdicts[["judge", "order", "vote"]].to_dict("list")
    {'judge': ['rule', 'rule'], 'order': [1, 2], 'vote': ['votes_a', 'votes_a']}
    """
    return split_verdicts(_checked(tables))[1]


def report(folder: str | Path, *, style: str | Path | None = None) -> Path:
    """Write the report of a folder into it, and return the path of its page.

    Parameters
    ----------
    folder : str or Path
        What `prefcal demo` or `prefcal agree` wrote, or `write_agreement`.
    style : str or Path, optional
        A style file, see docs/report.md.

    Returns
    -------
    Path
        Of report.html, in the folder.

    Raises
    ------
    InputError
        If nothing in the folder can be reported, or a file in it is damaged or cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import pandas as pd
    >>> import prefcal
    >>> votes = pd.DataFrame(
    ...     {
    ...         "worker": ["w1", "w2", "w3"] * 2,
    ...         "task": "lists",
    ...         "topic": ["t1"] * 3 + ["t2"] * 3,
    ...         "pair": "A-B",
    ...         "system_left": "A",
    ...         "system_right": "B",
    ...         "choice": ["left", "left", "right", "left", "right", "left"],
    ...     }
    ... )
    >>> folder = mkdtemp()
    >>> prefcal.write_ranking(prefcal.rank({"preferences": votes}), folder)
    >>> prefcal.report(folder).name
    'report.html'
    """
    return write_report(folder, report_style=None if style is None else read_look(style))


def _check_level(level: object) -> None:
    if not (isinstance(level, Real) and 0 < float(level) < 1):
        raise input_fault(f"level is {level!r}", cure="give a share between 0 and 1, such as 0.95")


def _same_answers(option: SameAnswersOption) -> SameAnswersOption:
    if option not in get_args(SameAnswersOption):
        raise input_fault(f"same_answers is {option!r}", cure='give "apart" or "one-cluster"')
    return option


def _split(tables: FolderOrFrames, by: str | None = None) -> tuple[Tables, Verdicts]:
    """Read or check tables, warn of odd values, put a criterion in place of the choices, and split off judges' verdicts."""
    found = _checked(tables)
    warn_of_doubts(people_tables(found, numbered=False))
    if by is not None:
        found = by_criterion(found, by, place=_place(tables, "criteria"))
    people, verdicts = split_verdicts(found)
    return dict(people), verdicts


def _place(tables: FolderOrFrames, table: str) -> str:
    """Return what faults of a table name: its file, or of frames its name."""
    return str(Path(tables) / f"{table}.csv") if isinstance(tables, str | Path) else table


def _checked(tables: FolderOrFrames) -> Tables:
    return read_tables(tables) if isinstance(tables, str | Path) else checked_tables(tables)


def _folder(tables: FolderOrFrames) -> str | Path | None:
    return tables if isinstance(tables, str | Path) else None


def _paths(named: Mapping[str, str | Path] | None) -> dict[str, Path]:
    return {name: Path(path) for name, path in (named or {}).items()}


def _user_model(model: Model) -> UserModel:
    if isinstance(model, UserModelFit):
        return model.model
    return model if isinstance(model, UserModel) else read_user_model(model)


def _of_these_tables(model: UserModel, folder: str | Path | None) -> bool:
    """Return whether a model may have been fitted to these tables.

    Frames, and models fitted to frames, have no hash to compare.
    """
    return folder is None or model.tables_sha256 in {tables_sha256(folder), None}


def import_preferences(  # noqa: PLR0913 - what prefcal import takes
    source: str | Path | pd.DataFrame,
    *,
    choice: str,
    answers: Mapping[str, str] | None = None,
    criteria: Mapping[str, str] | None = None,
    where: Mapping[str, str | Sequence[str]] | None = None,
    pairs: str | Path | pd.DataFrame | None = None,
    seconds: str | None = None,
    seconds_unit: Literal["s", "ms"] = "s",
    decimal: Literal[".", ","] = ".",
    time_format: str | None = None,
    time_zone: str | None = None,
    delimiter: str = ",",
    skip_rows: int = 0,
    sheet: str | None = None,
    task: str = "preferences",
    task_column: str | None = None,
    language: str | None = None,
    **columns: str,
) -> Imported:
    """Return another tool's preferences as the table preferences, as `prefcal import` does.

    Parameters
    ----------
    source : str, Path or DataFrame
        A CSV, JSON or a workbook, or a frame with one or several judgments a row.
    choice : str
        Column with the answer; with a ``*`` where a row has several.
    answers : mapping of str to str, optional
        What an answer says -> left, right, equally_good, equally_bad or none; of a graded answer with how much better that side is, as ``left:2``.
    criteria : mapping of str to str, optional
        Criterion -> column with the answer about it; ``criteria`` of the result is the table.
    where : mapping of str to str or sequence of str, optional
        Column -> the value or values of rows that are read.
    pairs : str, Path or DataFrame, optional
        What was compared: topic, left and right of each key.
    seconds : str, optional
        Column with the seconds of each decision.
    **columns : str
        Other columns by what they hold: topic, worker, left, right, strength, pair, judgment, shown_at, decided_at.

    Returns
    -------
    Imported
        ``preferences`` is the table; ``notes`` and ``warnings`` say how it was read; ``unanswered`` counts rows without an answer.

    Raises
    ------
    InputError
        As `calibration.interchange.preferences.read_foreign_preferences` does.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"q": ["eclipse"], "who": ["p1"], "a": ["bm25"], "b": ["neural"], "best": ["neural"]})
    >>> read = import_preferences(frame, topic="q", worker="who", left="a", right="b", choice="best")
    >>> read.preferences["choice"].tolist()
    ['right']
    """
    known = {"topic", "worker", "left", "right", "strength", "pair", "judgment", "shown_at", "decided_at"}
    if unknown := sorted(columns.keys() - known):
        raise TypeError(f"import_preferences has no argument {unknown[0]!r}; columns are {sorted(known)}")
    conditions = tuple(
        (column, value)
        for column, values in (where or {}).items()
        for value in ([values] if isinstance(values, str) else values)
    )
    named = PreferenceColumns(
        choice=choice, decision_seconds=seconds, task=task_column, criteria=criteria or {}, **columns
    )
    rules = ImportRules(
        answers=answers or {},
        times=TimeRules(time_format=time_format, time_zone=time_zone),
        lengths=LengthRules(decimal=decimal, unit=seconds_unit),
        table=TableRules(delimiter=delimiter, skip_rows=skip_rows, where=conditions, sheet=sheet),
        pairs=pairs,
        task=task,
        language=language,
    )
    return read_foreign_preferences(source, named, rules)
