"""Fit of the decay of lateness to answers about the use of updates.

The law and its maximum are in
`likelihood`, the interval in `error`.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import ndtri

from calibration.inference.clusters import cluster_covariance
from calibration.inference.formatting import label_axes, shown_level
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, info, warning
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.error import decay_uncertainty
from calibration.models.lateness.likelihood import log_likelihood, maximum, useful_probabilities
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from calibration.user_model.model import LATENESS, PARAMETERS, USE_IN_TIME, Diagnostic
from metrics.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DECAY, P0 = LATENESS, USE_IN_TIME
GREY = "0.35"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LatenessFit(CalibrationResult):
    """Fitted decay of lateness.

    Attributes
    ----------
    counts : LatenessCounts
        Answers by worker, without names, and level.
    """

    counts: LatenessCounts

    def plot_proportions(self, ax: "Axes", *, level: float = LEVEL) -> None:
        """Plot the share of useful updates by lateness, with the fitted curve."""
        plot_shares(ax, self.counts, *self.estimates.tolist(), level=level)

    def simulate(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw table lateness with n rows from the fitted model.

        Levels are as frequent as in the data; workers are alike.

        Workers answer as many rows each as in the data, on average.
        """
        counts, (decay, p0) = self.counts, self.estimates.tolist()
        level = rng.choice(counts.level, size=n, p=counts.total_asked / counts.total_asked.sum())
        rows = pd.DataFrame(
            {
                "worker": [f"W{index % counts.workers}" for index in range(n)],
                "topic": "E000",
                "nugget": [f"N{index}" for index in range(n)],
                "visits_late": level.astype(np.int64),
                "useful": rng.random(n) < useful_probabilities(decay, p0, level),
            }
        )
        return check_frame(rows, TABLES["lateness"])


def fit_lateness(counts: LatenessCounts) -> LatenessFit:
    """Fit the decay L and the share p0 of updates useful in time.

    The estimates maximise the likelihood.

    Parameters
    ----------
    counts : LatenessCounts
        Counted answers, as `lateness_counts` makes them of table lateness.

    Returns
    -------
    LatenessFit
        With parameters ``lateness_decay`` and ``lateness_p0``, both in [0, 1]. Interval method: ``sandwich``, clustered over workers,
        nuggets and topics, one-sided at an edge; none with a single worker. Its details: levels, in_time and late (numbers of
        answers), nuggets and topics.

    Raises
    ------
    NotIdentifiedError
        If nobody was asked about an update in time, or about a late one, or nothing was of use to anybody.
    """
    check_counts(counts)
    question_counts, useful = counts.total_asked, counts.total_useful
    decay, p0 = maximum(counts.level, question_counts, useful)
    several = counts.workers > 1
    return LatenessFit(
        parameters=MappingProxyType({DECAY: decay, P0: p0}),
        unit=PARAMETERS[DECAY],
        units=MappingProxyType({P0: PARAMETERS[P0]}),
        method="binomial likelihood",
        uncertainty=MappingProxyType({"sandwich": decay_uncertainty(decay, p0, counts)} if several else {}),
        loglik=log_likelihood(decay, p0, counts.level, question_counts, useful),
        n_workers=counts.workers,
        n_rows=int(question_counts.sum()),
        details=MappingProxyType(_details(counts)),
        diagnostics=_edges(decay, p0, counts),
        counts=counts,
    )


def _details(counts: LatenessCounts) -> dict[str, float]:
    question_counts = counts.total_asked
    details = {"levels": len(counts.level), "in_time": question_counts[0], "late": question_counts[1:].sum()}
    clusters = {"nuggets": counts.nuggets, "topics": counts.topics}
    return {name: float(number) for name, number in {**details, **clusters}.items() if number is not None}


def _edges(decay: float, p0: float, counts: LatenessCounts) -> tuple[Diagnostic, ...]:
    """Yield notes on an estimate at an edge, and on its one-sided interval."""
    late = counts.total_asked[1:].sum()
    notes = {
        "decay_at_zero": (
            decay == 0,
            f"None of {late:.0f} late updates was of use: L is 0 and its interval is a one-sided bound.",
        ),
        "decay_at_one": (
            decay == 1,
            "Late updates were of use at least as often as those in time: L is 1 and its interval is a one-sided bound.",
        ),
    }
    said = [warning(name, sentence) for name, (is_so, sentence) in notes.items() if is_so]
    if p0 == 1:
        sentence = "Every update in time was of use: p0 is 1 and its interval is a one-sided bound."
        said.append(info("certain_in_time", sentence))
    return tuple(said)


def check_counts(counts: LatenessCounts) -> None:
    """Check that the answers identify a decay.

    Raises
    ------
    NotIdentifiedError
        If nobody was asked about an update in time, or about a late one, or nothing was of use to anybody.
    """
    if counts.level[0] > 0:
        raise NotIdentifiedError(
            "nobody was asked about an update in time (visits_late 0), and without the share of those that are of "
            "use the decay cannot be told"
        )
    if len(counts.level) == 1:
        raise NotIdentifiedError("nobody was asked about a late update (visits_late 1 or more)")
    if not counts.useful.any():
        raise NotIdentifiedError("no update was of use to anybody, in time or late")


def level_shares(counts: LatenessCounts, level: float = LEVEL) -> tuple[Floats, Floats, Floats]:
    """Return the share of useful updates at each level, and the ends of its interval, (k,) each.

    It is Wilson's interval, with the questions divided by the design effect over workers.
    """
    n, share = counts.total_asked, counts.total_useful / counts.total_asked
    effect = np.ones_like(n)
    w = counts.workers
    model = n * share * (1 - share)
    if w > 1:
        residual = counts.useful - counts.asked * share
        clustered = np.diag(cluster_covariance(residual))
        np.divide(clustered, model, out=effect, where=model > 0)
    effective = n / np.maximum(effect, 1.0)
    square = float(ndtri((1 + level) / 2)) ** 2 / effective  # Wilson's score interval
    centre = (share + square / 2) / (1 + square)
    reach = np.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return share, centre - reach, centre + reach


def plot_shares(ax: "Axes", counts: LatenessCounts, decay: float, p0: float, *, level: float = LEVEL) -> None:
    """Plot the shares with their intervals and the fitted curve."""
    share, low, high = level_shares(counts, level)
    ax.errorbar(
        counts.level,
        share,
        yerr=np.maximum([share - low, high - share], 0.0),
        fmt="o",
        color="black",
        ecolor=GREY,
        capsize=3,
        label=f"answers, {shown_level(level)} interval",
    )
    fine = np.linspace(0, counts.level.max(), 200)
    ax.plot(
        fine,
        useful_probabilities(decay, p0, fine),
        color="#0072B2",
        label=f"fitted: {p0:.2f} x {decay:.2f}^lateness",
    )
    ax.set_xticks(counts.level)
    ax.set_xlabel("visits late")
    ax.set_ylabel("share still of use")
    ax.set_ylim(0, 1)
    label_axes(ax, "Lateness decay: updates still of use", "the curve should pass through the intervals")
