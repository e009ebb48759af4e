"""What else the judgments of pushes say, and what is often done instead of the fit.

What else the judgments of pushes say: silent days, sides, the two words for a tie, and how much to trust the fit.

What is often done instead of `calibration.push.fit.fit_push_weights`, and what goes wrong with it.

For comparison only (`prefcal fit --compare naive`); each function's docstring says how it is off.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from calibration.inference.clusters import jackknife_covariance
from calibration.inference.results import CalibrationResult, NotIdentifiedError, info, warning
from calibration.inference.uncertainty import Interval, StudentT, Uncertainty
from calibration.inference.wording import shown_p
from calibration.push.errors import STRONG_GAIN, RawWeights, changes_without_each, two_way_covariance
from calibration.push.likelihood import ChoiceModel, Ties, maximise, without_maximum
from calibration.push.pairs import WEIGHTS, PushJudgments, push_judgments
from calibration.push.search import Judged, identified, judged_by
from calibration.user_model.model import PARAMETERS, Diagnostic
from metrics.arrays import Floats

ALPHA = 0.05
WARNED = 0.02
"""A p-value below it is a warning: the tests of one fit together then stay quiet in nine of ten studies in which all is well."""
FEW_CLUSTERS = 10
LEAST_TIES = 20
Verdict: TypeAlias = Literal["supported", "not supported", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentDays:
    """Whether silence on a silent day should be rewarded (S_0 > 0, as in ELG-1) or not (as in ELG-0).

    Attributes
    ----------
    ratio : float
        S_0 / G_E.
    interval : (float or None, float or None)
        Its 95 % interval.
    p_value : float
        One-sided, of S_0 <= 0.
    share : float or None
        Bootstrap samples of topics with S_0 > 0; None without a bootstrap.
    """

    ratio: float
    interval: Interval
    p_value: float
    share: float | None

    @property
    def verdict(self) -> Verdict:
        """Supported where S_0 <= 0 is rejected at 5 %, not supported where S_0 >= 0 is, else undecided."""
        if self.p_value < ALPHA:
            return "supported"
        return "not supported" if self.p_value > 1 - ALPHA else "undecided"

    @property
    def sentence(self) -> str:
        """The answer, for people."""
        low, high = ("no bound" if end is None else f"{end:.2f}" for end in self.interval)
        unclear = ": these judgments cannot tell it" if self.verdict == "undecided" else ""
        answer = f"Silent days: reward {self.verdict}{unclear} (95% CI of S_0/G_E from {low} to {high})"
        return f"{answer}; one-sided {shown_p(self.p_value)}.{self._about_share}"

    @property
    def _about_share(self) -> str:
        """What the bootstrap says, and why it may sound surer than the test."""
        if self.share is None:
            return ""
        sentence = f" S_0 > 0 in {self.share:.0%} of bootstrap samples of topics"
        if self.verdict == "undecided" and not ALPHA <= self.share <= 1 - ALPHA:
            return (
                f"{sentence}, but these hold only these topics and workers, and the test allows for others."
            )
        return f"{sentence}."


def silent_days(raw: RawWeights, uncertainty: Uncertainty, share: float | None) -> SilentDays | None:
    """Return the answer on silent days; None where S_0 cannot be told."""
    if "S_0" not in raw.names:
        return None
    place = raw.names.index("S_0")
    statistic = raw.weights[place] / np.sqrt(raw.cov[place, place])
    return SilentDays(
        ratio=float(raw.ratios[place - 1]),
        interval=uncertainty.intervals(1 - ALPHA)[place - 1],
        p_value=float(stdtr(raw.df, -statistic)),
        share=share,
    )


def notes_on_weights(raw: RawWeights) -> Iterator[Diagnostic]:
    """Warn of a gain that may be 0, say that it is weak, and warn of a negative P_E."""
    if raw.gain_in_errors < STRONG_GAIN:
        weight = f"The weight of gain is only {raw.gain_in_errors:.1f} standard errors from 0"
        if raw.gain_may_be_nothing:
            yield warning(
                "weak_gain",
                f"{weight}, so it may be 0: ratios to it are uncertain, and one whose interval (by Fieller) is open cannot be told from these "
                "judgments. Ask more people, and about more topics.",
            )
        else:
            yield info(
                "weak_gain",
                f"{weight}: ratios to it are uncertain. Their intervals (by Fieller) allow for it, and may be open.",
            )
    if "P_E" in raw.names and raw.weights[raw.names.index("P_E")] < 0:
        yield warning(
            "negative_P_E",
            "People seem to like non-relevant pushes on eventful days (P_E < 0): check the signs of the cells, and whether pain grows "
            "with the number of pushes at all.",
        )


def notes_on_clusters(workers: int, topics: int) -> Iterator[Diagnostic]:
    """Warn of few workers or topics."""
    for number, name, plural in ((workers, "worker", "workers"), (topics, "topic", "topics")):
        if number < 2:
            yield warning(
                f"one_{name}",
                f"With a single {name} nothing is known about differences between {plural}: there is no interval.",
            )
        elif number < FEW_CLUSTERS:
            yield warning(f"few_{plural}", f"{number} {plural} are few to tell how much {plural} differ.")


def note_on_sides(
    design: Floats, vote: Floats, ties: Ties, worker: "np.ndarray[tuple[int], np.dtype[np.intp]]"
) -> Diagnostic:
    """Test for a preference of the left side: an intercept, clustered by worker, who is the one that has it."""
    with_side = np.column_stack([design, np.ones(len(vote))])
    found = maximise(with_side, vote, ties)
    model = ChoiceModel(design=with_side, vote=vote, ties=ties, times=np.ones(len(vote)))
    place = design.shape[1]
    bias = float(found.weights[-1])
    error = float(
        np.sqrt(jackknife_covariance(changes_without_each(model, found.point, worker))[place, place])
    )
    df = int(worker.max())
    reach = float(stdtrit(df, 1 - ALPHA / 2)) * error
    side = "left" if bias > 0 else "right"
    sentence = f"log odds {bias:+.2f} for the left side, 95% CI from {bias - reach:.2f} to {bias + reach:.2f}"
    if 2 * stdtr(df, -abs(bias) / error) < WARNED:
        return warning("side_bias", f"People prefer the stream on the {side}, whatever it is ({sentence}).")
    return info("side_bias", f"That people prefer one side is not shown beyond chance ({sentence}).")


def notes_on_tie_labels(judgments: PushJudgments, places: list[int], weights: Floats) -> Iterator[Diagnostic]:
    """Tell whether ties are called good where the two streams are good: a logit of the label on their summed utility.

    Differences cannot tell where utility is 0; if the label follows the sum, it does.

    Parameters
    ----------
    judgments : PushJudgments
        All of them.
    places : list of int
        FittedColumns that were fitted.
    weights : (k,) ndarray of float
        Their raw weights.
    """
    tied = judgments.vote == 0
    total = (judgments.left + judgments.right)[tied][:, places] @ weights
    label = np.where(judgments.good[tied], 1.0, -1.0)
    worker, topic = (
        np.unique(code[tied], return_inverse=True)[1] for code in (judgments.worker, judgments.topic)
    )
    enough = tied.sum() >= LEAST_TIES and len(set(label.tolist())) == 2 and np.ptp(total) > 0
    if not enough or worker.max() < 1 or topic.max() < 1:
        return
    design = np.column_stack([total, np.ones_like(total)])
    found = maximise(design, label, "drop")
    model = ChoiceModel(design=design, vote=label, ties="drop", times=np.ones_like(total))
    slope, intercept = found.weights
    error = np.sqrt(two_way_covariance(model, found.point, worker, topic)[0, 0])
    df = min(worker.max(), topic.max())
    follows = bool(without_maximum(found, design))  # without exception: then the slope has no end
    p_value = 0.0 if follows else 2 * stdtr(df, -abs(slope) / error)
    yield _labels_note(float(slope), float(p_value), float(-intercept / slope / 2 / weights[0]))


def _labels_note(slope: float, p_value: float, zero: float) -> Diagnostic:
    if p_value >= (ALPHA if slope > 0 else WARNED):
        return info(
            "tie_labels",
            f"Whether a tie is called good or bad does not follow the streams' utility ({shown_p(p_value)}): these "
            "judgments do not tell where utility is 0.",
        )
    if slope < 0:
        return warning(
            "tie_labels",
            f"Ties are called good where the utility is low ({shown_p(p_value)}): check the labels.",
        )
    return info(
        "tie_labels",
        f"Ties are called good where the streams' utility is high ({shown_p(p_value)}); roughly, a stream "
        f"is neither good nor bad at a utility of {zero:.2f} G_E.",
    )


def naive_unclustered(preferences: pd.DataFrame, push_cells: pd.DataFrame) -> CalibrationResult:
    """Take every judgment for an independent one, with normal quantiles.

    The estimate is that of `fit_push_weights`; intervals are too narrow, because judgments of one topic share what its
    streams have beyond their cells, and those of one person that person.
    """
    return unclustered(push_judgments(preferences, push_cells))


def unclustered(judgments: PushJudgments) -> CalibrationResult:
    """Do the same with judgments that have their cells already."""
    return _fit(
        judged_by(judgments, judgments.difference, "davidson"), "davidson", "judgments as independent"
    )


def naive_without_ties(preferences: pd.DataFrame, push_cells: pd.DataFrame) -> CalibrationResult:
    """Drop equally good and equally bad judgments and treat the others as independent.

    Ties say that streams are worth about the same. Without them estimates scatter more (standard deviations 4 % larger at 19 %
    ties, 11 % at 44 %, 15 % at 60 %), and intervals are too narrow for the same reason as in `naive_unclustered`.
    """
    judgments = push_judgments(preferences, push_cells)
    return _fit(judged_by(judgments, judgments.difference, "drop"), "drop", "ties dropped")


def naive_without_sides(preferences: pd.DataFrame, push_cells: pd.DataFrame) -> CalibrationResult:
    """Look cells up by system in alphabetical order and read "left" as the first.

    Sides are drawn at random, so half of the preferences are turned round: the weights come out near 0, and their ratios
    are noise.
    """
    judgments = push_judgments(preferences, push_cells)
    turned = np.where(judgments.first_is_left[:, None], judgments.difference, -judgments.difference)
    return _fit(judged_by(judgments, turned, "davidson"), "davidson", "sides ignored")


def _fit(judged: Judged, ties: Ties, method: str) -> CalibrationResult:
    columns = identified(judged.design, WEIGHTS)
    if columns.unclear:
        raise NotIdentifiedError("; ".join(dict.fromkeys(columns.unclear.values())))
    found = maximise(judged.design, judged.vote, ties)
    k = len(WEIGHTS)
    cov = np.asarray(np.linalg.inv(found.information)[:k, :k], dtype=np.float64)
    raw = RawWeights(names=WEIGHTS, weights=found.weights, cov=cov, df=judged.workers - 1)
    return CalibrationResult(
        parameters=MappingProxyType(
            {f"push_{name}": ratio for name, ratio in zip(WEIGHTS[1:], raw.ratios.tolist(), strict=True)}
        ),
        unit=PARAMETERS["push_P_E"],
        method=method,
        uncertainty=MappingProxyType({"model": StudentT(centre=raw.ratios, cov=raw.ratio_cov, df=np.inf)}),
        loglik=found.loglik,
        n_free=len(found.point),
        n_workers=judged.workers,
        n_rows=len(judged.vote),
        details=MappingProxyType({"G_E_log_odds": float(found.weights[0])}),
    )


NAIVE: MappingProxyType[str, Callable[[pd.DataFrame, pd.DataFrame], CalibrationResult]] = MappingProxyType(
    {
        "unclustered": naive_unclustered,
        "without_ties": naive_without_ties,
        "without_sides": naive_without_sides,
    }
)
"""Name -> baseline; each raises `NotIdentifiedError` where a weight cannot be told."""
