"""Table of scores as columns of codes, the common result of all readers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.arrays import Bools, Floats, Ints
from metrics.readers.score_lines import LineForm
from metrics.results import ALL, MEANS, Score

NUMBER_CURE = "write a decimal number such as 2.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Scores as columns of codes into the names of runs, topics and metrics.

    Row i says that ``runs[run[i]]`` scores ``value[i]`` by ``metrics[metric[i]]`` on ``topics[topic[i]]``.

    Attributes
    ----------
    runs, topics, metrics : tuple of str
        Each name once, in the order of the file; a mean is the topic ``all``.
    run, topic, metric : (rows,) ndarray of int32
        Places of names.
    value : (rows,) ndarray of float
        NaN where the file says ``nan``.
    line : (rows,) ndarray of int32
        Where each stands in the file, from 1.
    has_topics : bool
        Whether the file says of topics at all.
    is_wide : bool
        Whether the file has a column per measure.
    form : LineForm, optional
        Of lines without a header.
    notes : tuple of str
        What is left out.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    metrics: tuple[str, ...]
    run: Ints
    topic: Ints
    metric: Ints
    value: Floats
    line: Ints
    has_topics: bool = True
    is_wide: bool = False
    form: LineForm | None = None
    notes: tuple[str, ...] = ()

    @property
    def is_mean(self) -> Bools:
        """Mask of the scores over all topics, (rows,)."""
        return np.asarray(self.topic == (self.topics.index(ALL) if ALL in self.topics else -1))

    def where(self, rows: Bools | Ints) -> "ScoreTable":
        """Return the rows at some indices."""
        columns = ("run", "topic", "metric", "value", "line")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def scores(self) -> list[Score]:
        """Return the rows as `Score` values."""
        columns = (self.run, self.topic, self.metric)
        names = (self.runs, self.topics, self.metrics)
        cells = [[of[code] for code in codes.tolist()] for codes, of in zip(columns, names, strict=True)]
        return [Score(*row) for row in zip(*cells, self.value.tolist(), strict=True)]


class NameCodes(dict[str, int]):
    """Names in order of first occurrence, each with its code.

    White space around a name is removed.
    """

    def __missing__(self, cell: str) -> int:
        name = cell.strip()
        if name != cell:
            return self[name]
        self[name] = len(self)
        return self[name]

    def of(self, cells: Sequence[str]) -> Ints:
        """Return the code of each cell's name."""
        return np.fromiter(map(self.__getitem__, cells), dtype=np.int32, count=len(cells))


class TopicCodes(NameCodes):
    """Names of topics with their codes; every mean is the topic ``all``."""

    def __missing__(self, cell: str) -> int:
        name = cell.strip()
        if name.lower() in MEANS and name != ALL:
            return self[ALL]
        return super().__missing__(cell)
