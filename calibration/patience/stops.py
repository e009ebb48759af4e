"""Patience L from stop positions: how far into a text people read; and what naive code makes of stops.

If the stop X is uniform on (0, L), the share still reading at x is max(0, 1 - x / L): the decay of U- and M-measure
is the survival curve of stops. So the curve is estimated (Kaplan and Meier 1958; a text read to its end is censored
there), and L is the one whose line is closest to it by least squares. The largest stop is no estimate: a single wrong
one moves it. The unit of the interval is the worker.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from calibration.inference.clusters import cluster_counts
from calibration.inference.drawing import BAND, finish, of_studies, tails
from calibration.inference.goodness import REJECTED, tested_by_simulation
from calibration.inference.results import (
    LEVEL,
    CalibrationResult,
    GoodnessOfFit,
    NotIdentifiedError,
    info,
    warning,
)
from calibration.inference.uncertainty import Replicates, Scale
from calibration.patience.curve import curve_positions, finisher_fits, line_fits, survival_curves
from calibration.patience.simulate import drawn_stops, simulate_stops_on
from calibration.user_model.model import Diagnostic
from metrics.arrays import Bools, Floats, Places

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "patience_chars_stops"
SCREEN_CHARS = MappingProxyType({"en": 420, "ja": 280})
"""Counted characters that one screen of a phone shows (the limits of NTCIR-12's first layer); en for other languages.
The end of a text that fits on a screen is seen without reading on, so it says nothing about patience."""
RESAMPLES = 1000
ENVELOPES = 199
CELLS_AT_ONCE = 4_000_000
MOST_SURVIVORS = 0.3


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StopsFit(CalibrationResult):
    """A patience fitted to stops; its details are share_reading (at the last position of the curve) and last_position.

    Attributes
    ----------
    positions : (g,) ndarray of float
        Where the curve was looked at, in counted characters.
    curve : (g,) ndarray of float
        The Kaplan-Meier curve there.
    text_chars : (n,) ndarray of float
        How long the texts were.
    finishers : float or None
        The fitted share of readers who always finish; None where the fit has none.
    """

    positions: Floats
    curve: Floats
    text_chars: Floats
    finishers: float | None = None

    @property
    def line(self) -> Floats:
        """(g,) the fitted share still reading at the positions."""
        pi = self.finishers or 0.0
        return np.asarray(pi + (1 - pi) * np.maximum(0.0, 1 - self.positions / self.estimates[0]))

    def simulate(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Return table stops of ``n`` readers of one text each: texts as long as those read, stops from the fit."""
        return simulate_stops_on(
            rng.choice(self.text_chars, n), self.estimates[0], rng, finishers=self.finishers or 0.0
        )

    def goodness_of_fit(self, n_boot: int = 99, seed: int = 1) -> tuple[GoodnessOfFit, ...]:
        """Test whether the survival curve is a line: its distance from the fitted one, against simulated readers.

        The statistic is the root of the mean squared distance; each simulated study has the same texts and is fitted
        anew. Nothing is tested where the patience is infinite.
        """
        if math.isinf(self.estimates[0]):
            return ()
        rng = np.random.default_rng(seed)
        distance = float(np.sqrt(np.mean((self.curve - self.line) ** 2)))
        simulated = [self._distance_of_a_simulation(rng) for _ in range(n_boot)]

        def sentence(p_value: float) -> str:
            verdict = (
                "people's patience varies, or some of them always finish"
                if p_value < REJECTED
                else "a line describes it"
            )
            return (
                f"The share still reading lies {distance:.3f} from the fitted line on average "
                f"(p = {p_value:.2f} by {n_boot} simulated studies): {verdict}."
            )

        return (tested_by_simulation("straight_survival_curve", distance, simulated, sentence),)

    def _simulated(self, rng: np.random.Generator) -> tuple[Floats, Bools]:
        """Return positions and who stopped there, ascending, of readers of the same texts."""
        read, reached_end = drawn_stops(
            self.text_chars, self.estimates[0], rng, finishers=self.finishers or 0.0
        )
        order = np.lexsort((reached_end, read))
        return read[order], ~reached_end[order]

    def _distance_of_a_simulation(self, rng: np.random.Generator) -> float:
        read, stopped = self._simulated(rng)
        positions = curve_positions(read)
        curve = survival_curves(read, stopped, np.ones((1, len(read))), positions)
        kappa, pi = _fits(curve, positions, with_finishers=self.finishers is not None)
        line = pi[0] + (1 - pi[0]) * np.maximum(0.0, 1 - kappa[0] * positions)
        return float(np.sqrt(np.mean((curve[0] - line) ** 2)))

    def _simulated_curve(self, rng: np.random.Generator) -> Floats:
        read, stopped = self._simulated(rng)
        curve: Floats = survival_curves(read, stopped, np.ones((1, len(read))), self.positions)[0]
        return curve

    def plot_survival(
        self, ax: "Axes", *, level: float = LEVEL, n_boot: int = ENVELOPES, seed: int = 1
    ) -> None:
        """Draw the Kaplan-Meier curve, the fitted line, and an envelope of studies simulated from the fit.

        The envelope is pointwise; in the simulated studies each text has a reader of its own. An infinite patience has
        neither line nor envelope.
        """
        ax.step(self.positions, self.curve, where="post", color="0.25", label="Kaplan-Meier")
        if math.isfinite(self.estimates[0]):
            rng = np.random.default_rng(seed)
            curves = [self._simulated_curve(rng) for _ in range(n_boot)]
            low, high = np.quantile(curves, tails(level), axis=0)
            ax.fill_between(self.positions, low, high, color=BAND, step="post", label=of_studies(level))
            label = f"fitted, L = {self.estimates[0]:.0f}"
            ax.plot(self.positions, self.line, color="#0072b2", linestyle="--", label=label)
        ax.set(
            xlabel="position (counted characters)",
            ylabel="share still reading",
            ylim=(0, 1.02),
            xlim=(0, None),
        )
        finish(
            ax, "Patience from stops: readers still reading", "the curve should mostly lie inside the band"
        )


def fit_patience_from_stops(
    stops: pd.DataFrame,
    *,
    rng: np.random.Generator,
    language: str | None = None,
    resamples: int = RESAMPLES,
    with_finishers: bool = False,
) -> StopsFit:
    """Fit the patience whose linear decay is closest to the survival curve of stops.

    Parameters
    ----------
    stops : DataFrame
        Table stops, of one language. Used are texts longer than one screen whose layout is stacked or absent: on a
        page side by side a stop measures the screen. Visits to streams count where no text was judged.
    rng : Generator
        Source of the worker bootstrap.
    language : str, optional
        Of the texts, for the size of a screen.
    resamples : int
        Bootstrap samples.
    with_finishers : bool
        Fit a share of readers who always finish too. It is no default: patience that varies between people looks the
        same, and L then comes out too short.

    Returns
    -------
    StopsFit
        With parameter ``patience_chars_stops``, infinite where nobody stopped before a text's end.

    Raises
    ------
    NotIdentifiedError
        If no text is usable.
    """
    usable, unused = _usable(stops, SCREEN_CHARS.get(language or "en", SCREEN_CHARS["en"]))
    if usable.empty:
        raise NotIdentifiedError(f"no stop on a text longer than one screen, one text at a time ({unused})")
    read, stopped, usable = _ascending(usable)
    worker, workers = pd.factorize(usable["worker"])
    positions = curve_positions(read)
    curve = survival_curves(read, stopped, np.ones((1, len(read))), positions)
    kappa, pi = (float(one[0]) for one in _fits(curve, positions, with_finishers=with_finishers))
    boot = (
        _bootstrap(read, stopped, worker, positions, resamples, rng, with_finishers)
        if len(workers) > 1
        else None
    )
    return StopsFit(
        parameters=MappingProxyType({NAME: 1 / kappa if kappa > 0 else math.inf}),
        unit="counted characters",
        method=f"Kaplan-Meier, least squares{' with finishers' if with_finishers else ''}",
        uncertainty=MappingProxyType({} if boot is None else {"worker_bootstrap": boot}),
        n_workers=len(workers),
        n_rows=len(usable),
        n_censored=int((~stopped).sum()),
        details=MappingProxyType(
            {"share_reading": float(curve[0, -1]), "last_position": float(positions[-1])}
            | ({"share_finishers": pi} if with_finishers else {})
        ),
        diagnostics=(
            *_about_rows(usable, unused if len(usable) < len(stops) else None),
            *_diagnostics(kappa, curve[0], positions, len(workers)),
        ),
        positions=positions,
        curve=curve[0],
        text_chars=usable["longest"].to_numpy(np.float64),
        finishers=pi if with_finishers else None,
    )


def _usable(stops: pd.DataFrame, screen_chars: int) -> tuple[pd.DataFrame, str]:
    """Return the rows that measure patience, with the column longest, and in words how many do not.

    Where texts were judged, visits to streams do not count: how far somebody comes there is a matter of time, too.
    """
    judged = stops["judgment"].notna()
    visits = ~judged if judged.any() else judged
    stops = stops[~visits]
    beside = stops["layout"].eq("side_by_side").fillna(value=False)
    longest = longest_versions(stops)
    short = ~beside & (longest <= screen_chars)
    unused = f"{beside.sum()} texts stood side by side, {short.sum()} fit on one screen"
    if visits.any():
        unused += f", {visits.sum()} are visits to streams beside judged texts"
    return stops.assign(longest=longest)[~beside & ~short], unused


def _ascending(stops: pd.DataFrame) -> tuple[Floats, Bools, pd.DataFrame]:
    """Return positions, who stopped there, and the rows: ascending, at equal positions stops before ends."""
    rows = stops.sort_values(["chars_read", "reached_end", "worker"], kind="stable")
    return rows["chars_read"].to_numpy(np.float64), ~rows["reached_end"].to_numpy(bool), rows


def longest_versions(stops: pd.DataFrame) -> "pd.Series[float]":
    """Return the largest text_chars of each row's text: of all rows with its topic and system.

    How long a two-layered text is depends on the layers its reader opened, and who stops early opens none. Choosing
    rows by their own length would drop early stops. Rows without a system are taken by their own length.
    """
    longest = stops.groupby(["topic", "system"])["text_chars"].transform("max")
    return longest.where(stops["system"].notna(), stops["text_chars"])


def _fits(curves: Floats, positions: Floats, *, with_finishers: bool) -> tuple[Floats, Floats]:
    """Return kappa and pi of each curve, (b,); pi is 0 without finishers."""
    if with_finishers and not (curves == 1).all():
        return finisher_fits(curves, positions)
    return line_fits(curves, positions), np.zeros(len(curves))


def _bootstrap(
    read: Floats,
    stopped: Bools,
    worker: Places,
    positions: Floats,
    resamples: int,
    rng: np.random.Generator,
    with_finishers: bool,  # noqa: FBT001
) -> Replicates:
    workers = int(worker.max()) + 1
    counts = cluster_counts(workers, resamples, rng)
    step = max(1, CELLS_AT_ONCE // len(read))
    pieces = [
        _fits(
            survival_curves(read, stopped, counts[at : at + step][:, worker], positions),
            positions,
            with_finishers=with_finishers,
        )[0]
        for at in range(0, resamples, step)
    ]
    return Replicates(values=np.concatenate(pieces)[:, None], scale=Scale.INVERSE, clusters=workers)


def _about_rows(usable: pd.DataFrame, unused: str | None) -> Iterator[Diagnostic]:
    """Yield what was left out, and a warning where the rest are visits to streams."""
    if unused:
        yield info("stops_not_used", f"Left out: {unused}.")
    if usable[["judgment", "layout"]].isna().all(axis=None):
        yield warning(
            "from_visits",
            "No stop names a judgment or a layout, as none does that comes from a visit to a stream: how far people come "
            "there is bounded by their time too, and the estimate is then not their patience with texts.",
        )


def _diagnostics(kappa: float, curve: Floats, positions: Floats, workers: int) -> Iterator[Diagnostic]:
    if kappa == 0:
        yield warning(
            "infinite_patience", "Nobody stopped before the end of a text: the patience has no bound."
        )
    elif curve[-1] > MOST_SURVIVORS:
        yield warning(
            "extrapolated",
            f"At {positions[-1]:.0f} characters, where the texts end, {curve[-1]:.0%} were still reading: "
            "the patience is extrapolated.",
        )
    if workers < 2:
        yield warning(
            "one_worker", "With a single worker nothing is known about others: there is no interval."
        )


def naive_twice_median(stops: pd.DataFrame) -> CalibrationResult:
    """Take twice the median of the stops before a text's end, as if nobody had read on: too short."""
    stopped = stops.loc[~stops["reached_end"].astype(bool), "chars_read"].to_numpy(np.float64)
    if not len(stopped):
        raise NotIdentifiedError("nobody stopped before the end of a text")
    return _naive(
        2 * float(np.median(stopped)), "twice the median stop, texts read to the end dropped", stops
    )


def naive_largest_stop(stops: pd.DataFrame) -> CalibrationResult:
    """Take the largest stop, the maximum of the likelihood if stops were exact: a single wrong one moves it."""
    return _naive(float(stops["chars_read"].max()), "the largest stop", stops)


def _naive(patience: float, method: str, stops: pd.DataFrame) -> CalibrationResult:
    return CalibrationResult(
        parameters=MappingProxyType({NAME: patience}),
        unit="counted characters",
        method=method,
        uncertainty=MappingProxyType({}),
        n_workers=stops["worker"].nunique(),
        n_rows=len(stops),
    )


NAIVE: Mapping[str, Callable[[pd.DataFrame], CalibrationResult]] = MappingProxyType(
    {"twice_median": naive_twice_median, "largest_stop": naive_largest_stop}
)
"""Name of a baseline -> its function of table stops."""
