"""U-measure and M-measure of two-layered summaries.

Source: Kato, Pavlu, Sakai, Yamamoto, Morita: Two-layered Summaries for Mobile Search: Does the Evaluation Measure
Reflect User Preferences? (EVIA 2016), section 3. Trailtexts are in `metrics.summaries.trailtext`, files in `metrics.readers`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from metrics.arrays import Floats, summed
from metrics.registry import Measure, ParameterRange, measure, short_number
from metrics.results import Score, label_measures, run_list, score_frame, with_means
from metrics.summaries.trailtext import (
    FirstOccurrences,
    Intents,
    Layers,
    Position,
    Probabilities,
    intent_probabilities,
    positions,
    readers_of,
    readings,
)
from metrics.summaries.two_layered import Collection, Run, summaries_left_out, summary_collection_left_out
from metrics.unused_input import warn_if_mostly_unused

if TYPE_CHECKING:
    import pandas as pd

PAPER_PATIENCE = MappingProxyType({"en": 1500.0, "ja": 500.0})
"""Patience L of Kato et al. (2016) by language; en for other languages."""
NOT_NEGATIVE = ParameterRange(0, math.inf, "be 0 or more")


@measure
class UMeasure(Measure):
    """U-measure: gain of a user with one intent from a summary.

    U_i = (1/N) sum_j g_i(u_j) d(u_j),   d(u) = max(0, 1 - pos(u) / L),   N = 1

    Attributes
    ----------
    patience : float
        L, in counted characters, >= 0. inf: everything read counts in full. 0: nothing is read, U = 0.
    truncate : int or None
        Cut each layer to this many counted characters first, >= 0.
    layers : {'both', 'first', 'second'}
        Ablations, see `metrics.summaries.trailtext.trailtext`.

    Examples
    --------
    >>> UMeasure(patience=840)
    UMeasure(patience=840)
    """

    name = "U"
    family = "summaries"
    source = "Kato et al., EVIA 2016, eq. 3"
    definition = "Importance of the iUnits that a user with one intent meets, less the later they are met."

    patience: Annotated[float, NOT_NEGATIVE] = 1500
    truncate: Annotated[int, NOT_NEGATIVE] | None = None
    layers: Layers = "both"

    @property
    def column(self) -> str:
        """Column name, always with the patience: ``U@1500``.

        It never shows truncation and ablations.
        """
        return f"{self.name}@{short_number(self.patience)}"

    def discount(self, offset_chars: Floats) -> Floats:
        """Return the discount d(u) at offsets in counted characters, in [0, 1].

        The offsets are ends of iUnits; the result has their shape.
        """
        if self.patience == 0:
            return np.zeros_like(offset_chars)
        return 1.0 - np.minimum(offset_chars, self.patience) / self.patience


@measure
class MMeasure(UMeasure):
    """M-measure: expected gain of users over the intents of the query.

    M = sum_i P(i|q) U_i

    Attributes
    ----------
    intents : {'given', 'uniform', 'fitted'}
        P(i|q): the collection's, as given; equal over the query's intents; or those passed to the scoring function.

    Examples
    --------
    What a measure prints as, `prefcal.measure` reads.

    >>> MMeasure(patience=840, intents="uniform")
    MMeasure(patience=840, intents='uniform')
    """

    name = "M"
    source = "Kato et al., EVIA 2016, eq. 2"
    definition = "U-measure expected over the intents of the query."

    intents: Intents = "given"


U = TypeVar("U", bound=UMeasure)


def summary_scores(
    collection: Collection,
    runs: Iterable[Run],
    measures: Iterable[MMeasure] | Mapping[str, MMeasure],
    *,
    fitted: Probabilities | None = None,
) -> list[Score]:
    """Score runs by M-measure, as `score_summaries` but without pandas.

    Its parameters are those of `score_summaries`.
    """
    labels = label_measures(measures, MMeasure)
    kinds = {measure.intents for measure in labels.values()}
    probability = {kind: intent_probabilities(collection, kind, fitted) for kind in kinds}
    scores: list[Score] = []
    for run in runs:
        values = {
            label: read.expectations(measure.discount, probability[measure.intents])
            for label, measure, read in read_once(collection, run, labels)
        }
        scores += [
            Score(run.name, topic, label, float(value[index]))
            for index, topic in enumerate(collection.queries)
            for label, value in values.items()
        ]
    return with_means(scores)


def score_summaries(
    collection: Collection,
    runs: Iterable[Run],
    measures: Iterable[MMeasure] | Mapping[str, MMeasure],
    *,
    fitted: Probabilities | None = None,
) -> "pd.DataFrame":
    """Score runs by M-measure, by query and their mean as topic `all`.

    Kato et al. (EVIA 2016), eq. 2, with the conventions of their programs: characters as in `metrics.summaries.trailtext`,
    N = 1, and an iUnit counts only where it is first met. A summary that reaches nothing important scores 0.

    Parameters
    ----------
    collection : Collection
        Judgments.
    runs : iterable of Run
        With a summary of every query.
    measures : iterable of MMeasure, or mapping of label to MMeasure
        Labels stand in the column metric; by default ``M@PATIENCE``. A sweep over patience is cheap: what is read
        is computed once.
    fitted : mapping of topic to mapping of intent to float, optional
        P(i|q) for measures with ``intents='fitted'``.

    Returns
    -------
    DataFrame
        run, topic, metric, value.

    Raises
    ------
    InputError
        If the collection has no probabilities where they are needed, or the fitted ones lack an intent.
    ValueError
        If a run lacks a query, or two measures would have one label.

    Warns
    -----
    LeftOutWarning
        If more than half of the iUnits or queries have no importance, see `summaries_left_out`.

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> run = prefcal.read_summary_run("examples/two_layered/runs/good-order.xml", collection)
    >>> scores = score_summaries(collection, [run], [prefcal.MMeasure(patience=840)])
    >>> round(float(scores.query("topic == 'all'")["value"].iloc[0]), 2)
    21.39
    """
    runs = run_list(runs, Run)
    warn_if_mostly_unused(collection, runs, summary_collection_left_out, summaries_left_out)
    return score_frame(summary_scores(collection, runs, measures, fitted=fitted))


def score_intents(
    collection: Collection, runs: Iterable[Run], measures: Iterable[UMeasure] | Mapping[str, UMeasure]
) -> "pd.DataFrame":
    """Score runs by U-measure, for each intent of each query; no means.

    Source: Kato et al. (EVIA 2016), eq. 3; parameters, errors and warnings are those of `score_summaries`.

    Parameters
    ----------
    collection, runs, measures
        As in `score_summaries`, with U-measures.

    Returns
    -------
    DataFrame
        run, topic, intent, metric, value.

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> run = prefcal.read_summary_run("examples/two_layered/runs/good-order.xml", collection)
    >>> len(score_intents(collection, [run], [prefcal.UMeasure(patience=840)]))
    41
    """
    import pandas as pd  # noqa: PLC0415 - see metrics.results

    runs = run_list(runs, Run)
    warn_if_mostly_unused(collection, runs, summary_collection_left_out, summaries_left_out)
    labels = label_measures(measures, UMeasure)
    rows = [
        (run.name, topic, intent, label, value)
        for run in runs
        for label, measure, read in read_once(collection, run, labels)
        for (topic, intent), value in zip(
            readers_of(collection), read.utilities(measure.discount).tolist(), strict=True
        )
    ]
    return pd.DataFrame(rows, columns=pd.Index(["run", "topic", "intent", "metric", "value"]))


def summary_positions(
    collection: Collection, run: Run, *, truncate: int | None = None, layers: Layers = "both"
) -> "pd.DataFrame":
    """Return `positions` as a frame.

    Its columns are topic, system, intent, iunit, importance and offset_chars.

    Parameters
    ----------
    collection, run
        As read.
    truncate, layers
        As in `UMeasure`.

    Returns
    -------
    DataFrame
        topic, system, intent, iunit, importance, offset_chars: one row per intent and iUnit that its reader meets.

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> run = prefcal.read_summary_run("examples/two_layered/runs/good-order.xml", collection)
    >>> summary_positions(collection, run)["offset_chars"].head(3).tolist()
    [25, 66, 100]
    """
    import pandas as pd  # noqa: PLC0415 - see metrics.results

    rows = positions(collection, run, truncate=truncate, layers=layers)
    frame = pd.DataFrame(rows, columns=pd.Index(Position._fields))
    return frame.astype({"importance": "float64", "offset_chars": "int64"})


def m_from_positions(
    table: "pd.DataFrame", probability: Probabilities, patience: ArrayLike
) -> "pd.DataFrame":
    """Compute M at many patiences from the table positions alone.

    M_L = sum_i P(i|q) sum_u g_i(u) max(0, 1 - offset(u) / L)

    Parameters
    ----------
    table : DataFrame
        topic, system, intent, importance, offset_chars, and task where there are several.
    probability : mapping of topic to mapping of intent to float
        P(i|q); an intent that is not in it has 0.
    patience : (k,) array_like of float
        Values of L, in counted characters.

    Returns
    -------
    DataFrame
        One row a summary, indexed by (task,) topic, system in order of appearance; one column a patience. A summary
        that meets no iUnit has no row in the table, hence none here: its M is 0.
    """
    import pandas as pd  # noqa: PLC0415 - see metrics.results

    keys = [name for name in ("task", "topic", "system") if name in table.columns]
    summary = table.groupby(keys, sort=False).ngroup().to_numpy()
    pairs = zip(table["topic"], table["intent"], strict=True)
    shares = np.array(
        [probability.get(topic, {}).get(intent, 0.0) for topic, intent in pairs], dtype=np.float64
    )
    weight = shares * table["importance"].to_numpy(np.float64)
    offset = table["offset_chars"].to_numpy(np.float64)
    limits = np.asarray(patience, dtype=np.float64).tolist()
    index = pd.MultiIndex.from_frame(table[keys].drop_duplicates())
    values = {
        limit: summed(weight * UMeasure(patience=limit).discount(offset), summary, len(index))
        for limit in limits
    }
    return pd.DataFrame(values, index=index, columns=pd.Index(limits, name="patience"))


def read_once(
    collection: Collection, run: Run, labels: Mapping[str, U]
) -> Iterator[tuple[str, U, FirstOccurrences]]:
    """Yield each labelled measure with the run's first occurrences.

    Runs are read once for each truncation and ablation.
    """
    read: dict[tuple[int | None, Layers], FirstOccurrences] = {}
    for label, u_measure in labels.items():
        how = u_measure.truncate, u_measure.layers
        if how not in read:
            read[how] = readings(collection, run, truncate=u_measure.truncate, layers=u_measure.layers)
        yield label, u_measure, read[how]
