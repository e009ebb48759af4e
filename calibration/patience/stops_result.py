"""The result of a patience fitted to stops: its test, its plot, its simulator."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from calibration.inference.drawing import BAND, finish, of_studies, tails
from calibration.inference.goodness import REJECTED, tested_by_simulation
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit
from calibration.patience.curve import closest_lines, curve_positions, survival_curves
from calibration.patience.simulate_stops import drawn_stops, simulate_stops_on
from calibration.patience.spread import PatienceSpread
from metrics.arrays import Bools, Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ENVELOPES = 199
CAUSES = frozenset({"careless_workers", "patience_differs", "texts_differ", "decay_exponential"})
"""Diagnostics that say why the curve is no line."""
OTHER_TESTS = 2
"""The tests that name a cause have half of the level, the curve has the other half."""


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
    spread : PatienceSpread or None
        How patience differs between people; None where a single one was seen.
    """

    positions: Floats
    curve: Floats
    text_chars: Floats
    finishers: float | None = None
    spread: PatienceSpread | None = None

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
        anew. Nothing is tested where the patience is infinite, or a diagnostic names the cause already. p is doubled: the tests
        that name a cause have the other half of the level.
        """
        if math.isinf(self.estimates[0]) or CAUSES & {note.name for note in self.diagnostics}:
            return ()
        rng = np.random.default_rng(seed)
        distance = float(np.sqrt(np.mean((self.curve - self.line) ** 2)))
        simulated = [self._distance_of_a_simulation(rng) for _ in range(n_boot)]

        def sentence(p_value: float) -> str:
            shared = _shared(p_value)
            verdict = (
                "people's patience varies, or some of them always finish"
                if shared < REJECTED
                else "a line describes it"
            )
            return (
                f"The share still reading lies {distance:.3f} from the fitted line on average "
                f"(p = {shared:.2f} by {n_boot} simulated studies): {verdict}."
            )

        test = tested_by_simulation("straight_survival_curve", distance, simulated, sentence)
        return (replace(test, p_value=_shared(test.p_value)),)

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
        kappa, pi = closest_lines(curve, positions, with_finishers=self.finishers is not None)
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


def _shared(p_value: float) -> float:
    """Return p where the tests that name a cause have their part of the level (Bonferroni)."""
    return min(1.0, OTHER_TESTS * p_value)
