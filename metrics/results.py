"""Result of scoring: a row per run, topic and metric, and means as topic `all`.

Families compute lists of `Score`, which the command line prints as they are; pandas is imported only where a
Python user asks for a frame.
"""

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar, cast

from metrics.errors import input_fault, join_names
from metrics.registry import Measure, all_measures

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
MEANS = frozenset({ALL, "amean", "average", "mean"})
"""Names that tools give to a row over all topics.

Sources are trec_eval and ir_measures, gdeval and ndeval, compatibility.py, and tables of pandas.
"""

Topics: TypeAlias = Literal["judged", "run"]
"""Topics of a mean: every judged one, or those that the run has."""

ScoreKey: TypeAlias = tuple[str, str, str]
"""Run, topic and metric of a score."""
Interval: TypeAlias = tuple[float, float]
"""Low and high end of an interval."""

M = TypeVar("M", bound=Measure)
R = TypeVar("R")


MAX_LINES = 10
"""Largest number of lines of a printed result."""


def is_mean(topic: str) -> bool:
    """Return whether a topic id is a tool's name for all topics.

    Such names are ``all``, ``amean``, ``average`` and ``mean``.
    """
    return topic.lower() in MEANS


class HasSummary(ABC):
    """Base of results that print as the first lines of their `summary`.

    Their data are never dumped.
    """

    __slots__ = ()

    @abstractmethod
    def summary(self) -> str:
        """Return the result in words."""

    def overview(self) -> "Overview | None":
        """Return the table and sentences of the summary; None without a table."""
        return None

    def __repr__(self) -> str:
        return first_lines(self.summary())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        overview = self.overview()
        return f"<pre>{escape(repr(self))}</pre>" if overview is None else overview.as_html()


class Overview(NamedTuple):
    """Table and sentences of a result's summary.

    Attributes
    ----------
    table : DataFrame
        A row per line.
    digits : str
        How its numbers are written, as in ``.3f``.
    sentences : sequence of str
        What to know of it.
    """

    table: "pd.DataFrame"
    digits: str
    sentences: Sequence[str] = ()

    def as_text(self) -> str:
        """Return the table in columns, then each sentence on a line of its own."""
        shown = self.table.to_string(index=False, float_format=f"{{:{self.digits}}}".format)
        return "\n".join([shown, *self.sentences])

    def as_html(self) -> str:
        """Return table and sentences as HTML for a notebook."""
        shown = self.table.to_html(
            index=False, border=0, na_rep="", float_format=f"{{:{self.digits}}}".format
        )
        shown = "" if self.table.empty else shown
        return "\n".join([shown, *(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)])


def first_lines(summary: str) -> str:
    """Return the first `MAX_LINES` lines of a summary, and how many are left."""
    lines = summary.splitlines()
    if len(lines) > MAX_LINES:
        more = len(lines) - MAX_LINES + 1
        lines[MAX_LINES - 1 :] = [f"... {more} more lines in .summary()"]
    return "\n".join(lines)


class Score(NamedTuple):
    """One value of one metric; its fields are the columns of a score table."""

    run: str
    topic: str
    metric: str
    value: float
    user: str | None = None


def check_several(values: object, what: str) -> None:
    """Raise `InputError` if one text or one measure stands for a list of them.

    Parameters
    ----------
    values : object
        What was given.
    what : str
        The name of the argument.
    """
    if isinstance(values, str):
        raise input_fault(f"{what} is a text where a list is wanted", cure=f"pass a list: [{values!r}]")
    if not isinstance(values, Iterable):
        raise input_fault(f"{what} is {values!r} where a list is wanted", cure="pass a list, also of one")


def label_measures(measures: Iterable[M] | Mapping[str, M], kind: type[M] | None = None) -> dict[str, M]:
    """Label each measure by its `column`, or by the label the caller gave.

    The label is the measure's name in the column ``metric``.

    Parameters
    ----------
    measures : iterable, or mapping of str to Measure
        The measures, with labels in a mapping.
    kind : type, optional
        What each of them must be.

    Raises
    ------
    InputError
        If one is of another kind, or no measure at all.
    ValueError
        If two measures would have the same label: variants of one measure share their column, so they need
        labels of the caller's choice.
    """
    check_several(measures, "measures")
    named = cast("Mapping[str, M]", measures) if isinstance(measures, Mapping) else None
    given = named.values() if named is not None else cast("Iterable[M]", measures)
    labels: dict[str, M] = {}
    for measure in given:
        if kind is not None and not isinstance(measure, kind):
            known = sorted(
                measure_class.__name__
                for measure_class in all_measures().values()
                if issubclass(measure_class, kind)
            )
            raise input_fault(
                f"{measure!r} is no measure of {kind.family}",
                cure=f"pass some of {join_names(known, most=12)}",
            )
        if named is None and labels.setdefault(measure.column, measure) != measure:
            raise ValueError(
                f"{labels[measure.column]} and {measure} are both printed as {measure.column}: pass {{label: measure}}"
            )
    return labels if named is None else dict(named)


def run_list(runs: Iterable[R], kind: type[R]) -> list[R]:
    """Return runs as a list; raises InputError for what is none, or is one run."""
    if isinstance(runs, (kind, str)):
        raise input_fault("one run is given where several are wanted", cure="pass a list: [run]")
    listed_runs = list(runs)
    for run in listed_runs:
        if not isinstance(run, kind):
            raise input_fault(f"{run!r} is no {kind.__name__}", cure="read the file first")
    return listed_runs


def with_means(scores: Sequence[Score], *, over: Mapping[str, Collection[str]] | None = None) -> list[Score]:
    """Append to each run's scores the mean over its topics, as topic `all`.

    mean(run, metric, user) = sum of its values / number of its topics

    Parameters
    ----------
    scores : sequence of Score
        One row for every judged topic, whether or not the run has anything for it. A metric that comes with a
        row `all` of its own (a ratio of totals, say) keeps that one.
    over : mapping of run to topics, optional
        Mean over these topics only: the option ``--topics run``. Default: over all.

    Returns
    -------
    list of Score
        Run by run in the order given, the rows `all` last. The mean over no topic, or with a NaN in it, is NaN.
    """
    rows: dict[str, list[Score]] = defaultdict(list)
    values: dict[tuple[str, str, str | None], list[float]] = defaultdict(list)
    for score in scores:
        rows[score.run].append(score)
        counted = over is None or score.topic in over[score.run]
        values[score.run, score.metric, score.user] += [score.value] if counted else []
    own = {(score.run, score.metric, score.user) for score in scores if score.topic == ALL}
    for (run, metric, user), topic_values in values.items():
        if (run, metric, user) not in own:
            rows[run].append(
                Score(
                    run,
                    ALL,
                    metric,
                    math.fsum(topic_values) / len(topic_values) if topic_values else math.nan,
                    user,
                )
            )
    return [score for of_run in rows.values() for score in of_run]


def score_frame(scores: Sequence[Score]) -> "pd.DataFrame":
    """Convert scores to a tidy frame: run, topic, metric, value.

    A column ``user`` comes before metric when any score has a user.
    """
    import pandas as pd  # noqa: PLC0415 - half a second that the command line does not pay

    frame = pd.DataFrame(scores, columns=pd.Index(Score._fields))
    columns = ["run", "topic", "metric", "value"]
    if any(score.user is not None for score in scores):
        columns.insert(2, "user")
    return frame[columns].astype({"value": float})
