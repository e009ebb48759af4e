"""Push measures whose agreement is reported: the track's, and fitted utilities.

T11U and the contingency utility sum the cells of table push_cells and need no files; ELG and nCG do.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.agree.folder import DEFAULT_ALPHA
from calibration.agree.measures.variants import (
    ParameterOrigin,
    ParameterSweep,
    ScoredMeasure,
    VariantRole,
    name_of,
    scored_columns,
    scores_by_metric,
    with_cross_fitted,
)
from calibration.models.push.judgments import CELL_SIGNS
from calibration.user_model.model import UserModel
from calibration.user_model.push import contingency, push_alpha
from metrics.arrays import Floats
from metrics.push.contingency import CELLS, Contingency, PushCell
from metrics.push.measures import ELG, NCG, T11U, PushMeasure
from metrics.push.score import push_scores
from metrics.push.streams import PushCollection, PushRun
from metrics.registry import Measure

ALPHAS = np.linspace(0.0, 1.0, 41)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PushScores:
    """Cells and daily scores of one task's streams.

    Attributes
    ----------
    cells : DataFrame of float, indexed by topic, system
        The columns of `SIGNS`.
    daily : DataFrame of float, indexed by topic, system
        ELG and nCG, as named in score tables; no column where there are no files.
    converted : bool
        Whether the judgments were made for events.
    """

    cells: pd.DataFrame
    daily: pd.DataFrame
    converted: bool

    @property
    def signed(self) -> Floats:
        """Cells with their signs in the utility, (streams, 5)."""
        return np.asarray(
            self.cells[list(CELL_SIGNS)].to_numpy(np.float64) * np.array(list(CELL_SIGNS.values()))
        )

    def fixed(self) -> Iterator[ScoredMeasure]:
        """Yield the measures without fitted parameters."""
        yield from scored_columns(self.daily, "push", VariantRole.DEFAULT, converted=self.converted)
        yield from self.of_cells({"T11U": T11U(alpha=DEFAULT_ALPHA)}, VariantRole.DEFAULT)

    def of_cells(
        self, named: Mapping[str, Measure], role: VariantRole = VariantRole.NAMED
    ) -> Iterator[ScoredMeasure]:
        """Yield the named measures that are sums over the cells as counted."""
        for name, sample in named.items():
            if isinstance(sample, T11U) and _is_plain(sample, {"alpha"}):
                yield self.variant(name, self.t11u(sample.alpha), role, alpha=sample.alpha)
            elif isinstance(sample, Contingency) and _is_plain(sample, sample.weights):
                weights = np.array(list(sample.weights.values()), dtype=np.float64)
                yield self.variant(name, self.signed @ weights, role)

    def sweep(self) -> ParameterSweep:
        """Return T11U over alpha."""
        return ParameterSweep(
            measure=name_of("T11U", converted=self.converted),
            over="alpha",
            scores=pd.DataFrame(self.t11u(ALPHAS[None, :]), index=self.cells.index, columns=ALPHAS),
            converted=self.converted,
        )

    def t11u(self, alpha: float | Floats) -> Floats:
        """Return alpha G - (1 - alpha) N of every stream.

        The shape is (streams,) for one alpha, or one each, and (streams, n) for (., n) alphas.
        """
        gain, eventful, _, silent, _ = self.signed.T
        pain = eventful + silent
        if np.ndim(alpha) == 2:
            gain, pain = gain[:, None], pain[:, None]
        return np.asarray(alpha * gain + (1 - alpha) * pain)

    def by_topic(
        self, values: Mapping[str, float] | Mapping[str, Floats], otherwise: float | Floats
    ) -> Floats:
        """Return each stream's value of its topic, (streams, ...).

        A topic that entered no fit takes the common value.
        """
        topics = self.cells.index.get_level_values("topic")
        return np.array([values.get(topic, otherwise) for topic in topics])

    def variant(
        self,
        measure: str,
        values: Floats,
        role: VariantRole,
        fit: ParameterOrigin = ParameterOrigin.NONE,
        *,
        alpha: float | None = None,
        drawn: Floats | None = None,
    ) -> ScoredMeasure:
        """Return a measure of (streams,) scores, with (streams, n) draws, marked as converted where it is."""
        return ScoredMeasure(
            measure=name_of(measure, converted=self.converted),
            family="push",
            role=role,
            fit=fit,
            alpha=alpha,
            scores=pd.Series(values, index=self.cells.index, dtype="float64"),
            converted=self.converted,
            drawn=None if drawn is None else pd.DataFrame(drawn, index=self.cells.index),
        )


def push_measure_scores(
    collection: PushCollection, runs: Sequence[PushRun], judged: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Score runs under the track's rules: cells, ELG and nCG.

    ELG and nCG come with and without reward for silence.
    """
    daily: list[PushMeasure] = [
        ELG(silent_days=1),
        ELG(silent_days=0),
        NCG(silent_days=1),
        NCG(silent_days=0),
    ]
    cells = [PushCell(cell=cell) for cell in CELLS]
    scores = scores_by_metric(push_scores(collection, runs, [*daily, *cells]), judged)
    return scores[list(CELLS)], scores.drop(columns=list(CELLS))


def named_push_scores(
    collection: PushCollection,
    runs: Sequence[PushRun],
    named: Mapping[str, Measure],
    judged: Sequence[str],
) -> pd.DataFrame:
    """Score runs by the named push measures, one column each."""
    measures = {name: sample for name, sample in named.items() if isinstance(sample, PushMeasure)}
    return scores_by_metric(push_scores(collection, runs, measures), judged)


def fitted_utility(
    scores: PushScores,
    model: UserModel,
    model_draws: Sequence[UserModel],
    without: Mapping[str, Floats] | None,
    fit: ParameterOrigin,
) -> Iterator[ScoredMeasure]:
    """Yield the contingency utility at fitted weights, cross-fitted if needed.

    Weights fitted to these preferences are cross-fitted.

    Parameters
    ----------
    scores : PushScores
        The streams.
    model : UserModel
        With at least one of the weights; one that it lacks counts as 0, see
        `calibration.user_model.model.lacking_push_weights`.
    model_draws : sequence of UserModel
        Draws of it.
    without : mapping of str to (5,) ndarray of float, or None
        Topic -> the weights from all other topics; None where nothing was fitted to these preferences. In each draw they
        are moved as far as the model's.
    fit : ParameterOrigin
        What the model's weights were fitted to.
    """
    weights = _weights(model)
    moved = np.array([_weights(sample) - weights for sample in model_draws])

    def variant(name: str, values: Floats, fit: ParameterOrigin) -> ScoredMeasure:
        drawn = values[:, None] + scores.signed @ moved.T if len(moved) else None
        return scores.variant(name, values, VariantRole.FITTED, fit, drawn=drawn)

    own = None if without is None else (scores.signed * scores.by_topic(without, weights)).sum(axis=1)
    yield from with_cross_fitted("Contingency@preferences", variant, own, scores.signed @ weights, fit)


def fitted_t11u(
    scores: PushScores,
    alpha: float,
    model_draws: Sequence[UserModel],
    without: Mapping[str, float] | None,
    fit: ParameterOrigin,
) -> Iterator[ScoredMeasure]:
    """Yield T11U at the fitted alpha; other parameters as in `fitted_utility`."""
    moved = np.array([push_alpha(sample) for sample in model_draws], dtype=np.float64)

    def variant(name: str, own: Floats, fit: ParameterOrigin) -> ScoredMeasure:
        drawn = scores.t11u(_moved(own[:, None], alpha, moved)) if len(moved) else None
        return scores.variant(name, scores.t11u(own), VariantRole.FITTED, fit, alpha=alpha, drawn=drawn)

    own = None if without is None else scores.by_topic(without, alpha)
    every = np.full(len(scores.cells), alpha)
    yield from with_cross_fitted("T11U@preferences", variant, own, every, fit)


def _is_plain(measure: Measure, free: Collection[str]) -> bool:
    """Return whether all parameters but some are at their defaults.

    Cells are counted under these defaults.
    """
    defaults = measure.defaults()
    return all(value == defaults[name] for name, value in measure.parameters().items() if name not in free)


def _weights(model: UserModel) -> Floats:
    """Return the five weights of a model, (5,)."""
    utility = contingency(model) or Contingency()
    return np.array(list(utility.weights.values()), dtype=np.float64)


def _moved(own: Floats, estimate: float, model_draws: Floats) -> Floats:
    """Move each topic's alpha by the shift of the common one.

    It moves by the same factor in the odds of pain; alpha = 1 moves by the same step.
    """
    if 0 < estimate < 1 and ((model_draws > 0) & (model_draws < 1)).all():
        odds = (1 - model_draws) / model_draws / ((1 - estimate) / estimate)
        return np.asarray(own / (own + (1 - own) * odds))
    return np.clip(own + model_draws - estimate, 0.0, 1.0)
