"""The result of a patience fitted to stops (test, plot, simulator), and the generators of stops.

They draw how far texts and ranked lists are read, by the law that is fitted and by people who are not as it says.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.inference.goodness import REJECTED, tested_by_simulation
from calibration.inference.results import LEVEL, CalibrationResult, GoodnessOfFit
from calibration.inference.wording import BAND, finish, of_studies, tails
from calibration.patience.judges import PatienceSpread, spread_of_logs
from calibration.patience.readers import closest_lines, curve_positions, survival_curves
from calibration.tables.files import checked
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How readers differ from the law of stops.

    Attributes
    ----------
    patience_cv : float
        Coefficient of variation of a log-normal L over workers, with the mean that is given.
    finishers, quitters : float
        Share of workers who always read to the end, and who never go beyond the first lines (60 characters).
    texts : int or None
        How many texts there are, read by all in turn; None: nobody reads what another one reads.
    text_sd : float
        Standard deviation of the logarithm of how far a text is read.
    exponential : bool
        A stop falls off as exp(-x / L) instead of along a line.
    screen_chars : float
        Stops are known to a screen of so many counted characters only; 0: exactly.
    """

    patience_cv: float = 0.0
    finishers: float = 0.0
    quitters: float = 0.0
    texts: int | None = None
    text_sd: float = 0.0
    exponential: bool = False
    screen_chars: float = 0.0


FIRST_LINES_CHARS = 60.0


def simulate_stops(
    patience_chars: float,
    rng: np.random.Generator,
    *,
    workers: int = 60,
    texts_per_worker: int = 4,
    shortest: float = 0.2,
    longest: float = 1.6,
    habits: Habits | None = None,
) -> pd.DataFrame:
    """Draw table stops: a stop is uniform on (0, L), or the end of the text if that comes first.

    Parameters
    ----------
    patience_chars : float
        L.
    rng : Generator
        Source of the draws.
    workers, texts_per_worker : int
        How much is read.
    shortest, longest : float
        Texts are uniform between these lengths, in units of L.
    habits : Habits, optional
        What people and texts are like instead.
    """
    of = habits or Habits()
    n = workers * texts_per_worker
    spread = spread_of_logs(of.patience_cv)
    own = patience_chars * np.exp(rng.normal(-(spread**2) / 2, spread, workers)).repeat(texts_per_worker)
    kind = rng.random(workers).repeat(texts_per_worker)
    text, lengths = (
        np.arange(n),
        rng.uniform(shortest, longest, n if of.texts is None else of.texts) * patience_chars,
    )
    if of.texts is not None:
        text %= of.texts
        own *= np.exp(rng.normal(0, of.text_sd, of.texts))[text]
    read, reached_end = drawn_stops(
        lengths[text],
        own,
        rng,
        finishers=(kind < of.finishers).astype(np.float64),
        exponential=of.exponential,
    )
    quits = kind > 1 - of.quitters
    read = np.where(quits, rng.random(n) * FIRST_LINES_CHARS, read)
    names = np.repeat([f"W{number}" for number in range(workers)], texts_per_worker)
    stops = _by_screen(lengths[text], read, reached_end & ~quits, of.screen_chars)
    return _stops(names, text if of.texts is not None else None, lengths[text], stops)


def _by_screen(
    text_chars: Floats, read: Floats, reached_end: Bools, screen_chars: float
) -> tuple[Floats, Bools]:
    """Return how far the screen showed the text, where a screen has a length."""
    if not screen_chars:
        return read, reached_end
    shown = np.ceil(read / screen_chars) * screen_chars
    return np.minimum(shown, text_chars), reached_end | (shown >= text_chars)


def simulate_stops_on(
    text_chars: Floats, patience_chars: float, rng: np.random.Generator, *, finishers: float = 0.0
) -> pd.DataFrame:
    """Draw table stops on texts of given lengths, one reader each; parameters as for `drawn_stops`."""
    names = np.array([f"W{number}" for number in range(len(text_chars))])
    return _stops(names, None, text_chars, drawn_stops(text_chars, patience_chars, rng, finishers=finishers))


def drawn_stops(
    text_chars: Floats,
    patience_chars: float | Floats,
    rng: np.random.Generator,
    *,
    finishers: float | Floats = 0.0,
    exponential: bool = False,
) -> tuple[Floats, Bools]:
    """Draw how far texts are read, and whether to their end.

    Parameters
    ----------
    text_chars : (n,) ndarray of float
        Lengths in counted characters.
    patience_chars : float or (n,) ndarray of float
        L; may be infinite.
    rng : Generator
        Source of the draws.
    finishers : float or (n,) ndarray of float
        Chance of reading to the end whatever happens.
    exponential : bool
        exp(-x / L) still read at x, instead of 1 - x / L.
    """
    n = len(text_chars)
    finishes = rng.random(n) < finishers
    depth = rng.random(n)
    if exponential:
        depth = -np.log1p(-depth)
    stop = np.where(finishes | np.isinf(patience_chars), np.inf, depth * np.minimum(patience_chars, 1e300))
    return np.minimum(stop, text_chars), stop >= text_chars


@dataclass(frozen=True, slots=True, kw_only=True)
class ListReaders:
    """Who reads how many ranked lists, and how they differ from the geometric law.

    Attributes
    ----------
    workers, lists_each : int
        How much is read.
    lists : int
        How many lists there are, read by all in turn.
    ranks : int
        Entries of a list.
    entry_chars : float
        Counted characters of an entry; three of 140 stand on an English screen of 420.
    ahead : int
        Entries on the screen below the one that is read.
    people_sd : float
        Standard deviation over workers of the log odds of going on.
    finishers : float
        Share of workers who always go to the end.
    tiring : bool
        A reader stops somewhere in the list, anywhere with the same chance, instead of geometrically.
    """

    workers: int = 60
    lists_each: int = 4
    lists: int = 40
    ranks: int = 20
    entry_chars: float = 140.0
    ahead: int = 2
    people_sd: float = 0.0
    finishers: float = 0.0
    tiring: bool = False


def simulate_list_stops(
    persistence: float, rng: np.random.Generator, readers: ListReaders | None = None
) -> pd.DataFrame:
    """Draw table stops of ranked lists: after each entry a reader goes on to the next with probability ``persistence``."""
    of = readers or ListReaders()
    n = of.workers * of.lists_each
    odds = math.log(persistence / (1 - persistence)) + rng.normal(0, of.people_sd, of.workers)
    own = (1 / (1 + np.exp(-odds))).repeat(of.lists_each)
    read = rng.integers(1, of.ranks + 1, n) if of.tiring else rng.geometric(1 - own)
    read = np.where((rng.random(of.workers) < of.finishers).repeat(of.lists_each), of.ranks, read)
    seen = np.minimum(read + of.ahead, of.ranks)
    rows = pd.DataFrame(
        {
            "worker": np.repeat([f"W{number}" for number in range(of.workers)], of.lists_each),
            "topic": [f"L{number % of.lists:03d}" for number in range(n)],
            "system": "S",
            "layout": "stacked",
            "chars_read": seen * of.entry_chars,
            "text_chars": of.ranks * of.entry_chars,
            "reached_end": seen == of.ranks,
            "rank_read": seen,
            "ranks": of.ranks,
        }
    )
    return checked(rows, TABLES["stops"])


def _stops(
    names: NDArray[np.str_], text: Ints | None, text_chars: Floats, stops: tuple[Floats, Bools]
) -> pd.DataFrame:
    """Return table stops; a text that several read is a topic of one system."""
    read, reached_end = stops
    rows = pd.DataFrame(
        {
            "worker": names,
            "topic": "Q000" if text is None else [f"Q{number:03d}" for number in text],
            "system": None if text is None else "S",
            "layout": "stacked",
            "chars_read": read,
            "text_chars": text_chars,
            "reached_end": reached_end,
        }
    )
    return checked(rows, TABLES["stops"])


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
        ends = np.sort(read[reached_end])
        stops = np.sort(read[~reached_end])
        place = np.searchsorted(stops, ends, side="right") + np.arange(len(ends))
        stopped = np.ones(len(read), dtype=bool)
        stopped[place] = False
        ascending = np.empty(len(read))
        ascending[stopped], ascending[place] = stops, ends
        return ascending, stopped

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
