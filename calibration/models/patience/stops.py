"""Patience L from stop positions, by the survival curve of reading.

A stop shows how far into a text a person read. If the stop X is uniform on (0, L), the share still reading at x is S(x) = max(0, 1 - x /
L): the decay of U- and M-measure is the survival curve of stops. So the curve is estimated (Kaplan and Meier 1958; a text read to its end
is censored there), and L is the one whose line is closest to it by least squares. The largest stop is no estimate: a single wrong one moves
it. The unit of the interval is the worker, and the text too where several people read the same ones.

A stop is known exactly, or to a screen: the reader got beyond the top of the last screen and not beyond its end. Table stops says so by
`chars_least`; without it, stops that are all multiples of one length are taken as screens of that length.
"""

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from calibration.inference.clusters import (
    cluster_counts,
    couple_codes,
    jackknife_covariance,
    jackknife_groups,
)
from calibration.inference.formatting import BAND, band_label, label_axes, tails
from calibration.inference.results import LEVEL, CalibrationResult, NotIdentifiedError, on_single, warning
from calibration.inference.uncertainty import Replicates, Scale, StudentT, Uncertainty
from calibration.models.patience.simulate import drawn_stops, simulate_stops_on
from calibration.user_model.model import Diagnostic
from metrics.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "patience_chars_stops"
SCREEN_CHARS = MappingProxyType({"en": 420, "ja": 280})
"""Counted characters that one screen of a phone shows, by language.

The limits of NTCIR-12's first layer; en for other languages. The end of a text that fits on a screen is seen without reading on, so it
says nothing about patience.
"""
SHORTEST_SCREEN = 20.0
"""Smallest length of a screen, in counted characters; below are words."""
MIN_STOPS = 8
"""Smallest number of stops whose common divisor is no accident."""
RESAMPLES = 1000
CELLS_AT_ONCE = 200_000
POSITIONS = 200
PARTS = 10
"""Number of points over which a stop within a screen is spread evenly."""
ROUNDS = 5
NEAR = 0.05
"""Relative distance over which the pull is measured."""
LAPSES = 0.02
"""Share of stops that follow no rule, in the law of one person."""
PATIENCES = np.linspace(-2.4, 2.4, 81)
"""Grid of the logarithm of a person's patience over that of all."""
ENVELOPES = 199


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stops:
    """Stops of n texts, ascending, those before a text's end before ends.

    Attributes
    ----------
    people : tuple of str
        Pseudonyms.
    worker, text : (n,) ndarray of int
        Who read what; a text that nobody else can have read has an index of its own.
    low, high : (n,) ndarray of float
        Counted characters between which the reader stopped; of who reached the end, how far the reader surely came, twice.
    stopped : (n,) ndarray of bool
        Before the end.
    length : (n,) ndarray of float
        Of the longest version of each text.
    step : float or None
        The length of a screen, where it was found from the stops.
    step_is_guessed : bool
        It was, and no row says how far its reader surely came.
    screen_chars : float
        What a screen is taken to show.
    unused : str
        In words, which texts do not count; empty where all do.
    of_visits : bool
        No row names a judgment or a layout, as none does that comes from a visit to a stream.
    """

    people: tuple[str, ...]
    worker: Ints
    text: Ints
    low: Floats
    high: Floats
    stopped: Bools
    length: Floats
    step: float | None
    step_is_guessed: bool
    screen_chars: float = float(SCREEN_CHARS["en"])
    unused: str = ""
    of_visits: bool = False

    def rounded(self) -> "Stops":
        """Return the stops as if rounded to the nearest multiple of the step, not up."""
        half = (self.step or 0.0) / 2
        low = np.where(self.stopped, np.maximum(self.high - half, 0.0), self.low)
        return replace(self, low=low, high=np.where(self.stopped, self.high + half, self.high))

    def of(self, used: Bools) -> "Stops":
        """Select rows, with the people who made them."""
        kept, worker = np.unique(self.worker[used], return_inverse=True)
        named = {name: getattr(self, name)[used] for name in ("low", "high", "stopped", "length")}
        people = tuple(self.people[index] for index in kept)
        text = np.unique(self.text[used], return_inverse=True)[1]
        return replace(self, people=people, worker=worker, text=text, **named)

    def summed(self, rows: Floats) -> Floats:
        """Sum (n, g) rows by person, (people, g)."""
        sums = np.zeros((len(self.people), rows.shape[1]))
        np.add.at(sums, self.worker, rows)
        return sums


def text_stops(stops: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table stops that are of texts, and not of ranked lists."""
    return stops[stops["ranks"].isna()] if "ranks" in stops else stops


def stops_of_texts(stops: pd.DataFrame, language: str | None = None) -> Stops:
    """Return the stops of table stops that measure patience, with their precision.

    Used are texts longer than one screen whose layout is stacked or absent: on a page side by side a stop measures the screen.
    Ranked lists (with ``ranks``) are no texts. Visits to streams count where no text was judged: how far somebody comes there is a
    matter of time, too.

    Raises
    ------
    NotIdentifiedError
        If no text is usable.
    """
    screen = SCREEN_CHARS.get(language or "en", SCREEN_CHARS["en"])
    stops = text_stops(stops)
    usable, unused = _usable(stops, screen)
    if usable.empty:
        raise NotIdentifiedError(f"no stop on a text longer than one screen, one text at a time ({unused})")
    return replace(
        read_stops(usable),
        screen_chars=float(screen),
        unused=unused if len(usable) < len(stops) else "",
        of_visits=bool(usable[["judgment", "layout"]].isna().all(axis=None)),
    )


def _usable(stops: pd.DataFrame, screen_chars: int) -> tuple[pd.DataFrame, str]:
    """Return the rows that measure patience, and a sentence on the others.

    The rows gain column longest.
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


def longest_versions(stops: pd.DataFrame) -> "pd.Series[float]":
    """Return the largest text_chars of each row's text.

    It looks at all rows with the same topic and system.

    How long a two-layered text is depends on the layers its reader opened, and who stops early opens none. Choosing
    rows by their own length would drop early stops. Rows without a system are taken by their own length.
    """
    longest = stops.groupby(["topic", "system"])["text_chars"].transform("max")
    return longest.where(stops["system"].notna(), stops["text_chars"])


def read_stops(rows: pd.DataFrame) -> Stops:
    """Return the stops of rows with the column longest, with their precision."""
    rows = rows.sort_values(["chars_read", "reached_end", "worker"], kind="stable")
    read, stopped = rows["chars_read"].to_numpy(np.float64), ~rows["reached_end"].to_numpy(bool)
    length = rows["text_chars"].to_numpy(np.float64)
    step = screen_step(read[stopped & (read < length)])
    low = np.floor((read - 1e-6) / step) * step if step else read.copy()
    if "chars_least" in rows:
        known = rows["chars_least"].to_numpy(np.float64)
        low = np.minimum(np.where(np.isnan(known), low, known), read)
    worker, people = pd.factorize(rows["worker"], sort=True)
    own = rows["text_chars"].astype("str").where(rows["system"].isna(), "")
    text = (
        rows[["topic", "system"]].assign(own=own).groupby(["topic", "system", "own"], dropna=False).ngroup()
    )
    return Stops(
        people=tuple(people),
        worker=worker,
        text=text.to_numpy(np.intp),
        low=np.maximum(low, 0.0),
        high=np.where(stopped, read, np.maximum(low, 0.0)),
        stopped=stopped,
        length=rows["longest"].to_numpy(np.float64),
        step=step,
        step_is_guessed=bool(step) and not ("chars_least" in rows and rows["chars_least"].notna().any()),
    )


def screen_step(stops: Floats) -> float | None:
    """Return the common divisor of all stops, or None.

    The result is None where there is none, or stops are too few.
    """
    places = np.unique(np.round(stops))
    places = places[places > 0]
    if len(stops) < MIN_STOPS or not len(places):
        return None
    step = float(np.diff(places, prepend=0.0).min())
    off = np.abs(stops - step * np.round(stops / step))
    return step if step >= SHORTEST_SCREEN and (off <= 1).all() else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StopsFit(CalibrationResult):
    """Patience fitted to stops.

    Its details are share_reading (at the last position of the curve) and last_position.

    Attributes
    ----------
    positions : (g,) ndarray of float
        Where the curve was looked at, in counted characters.
    curve : (g,) ndarray of float
        The Kaplan-Meier curve there.
    text_chars : (n,) ndarray of float
        How long the texts were.
    """

    positions: Floats
    curve: Floats
    text_chars: Floats

    @property
    def line(self) -> Floats:
        """Fitted share still reading at the positions, (g,)."""
        return np.asarray(np.maximum(0.0, 1 - self.positions / self.estimates[0]))

    def simulate(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Return table stops of ``n`` readers of one text each, drawn from the fit.

        Texts have the lengths of those in the data.
        """
        return simulate_stops_on(rng.choice(self.text_chars, n), self.estimates[0], rng)

    def _simulated_curve(self, rng: np.random.Generator) -> Floats:
        read, stopped = simulated_stops(self.text_chars, float(self.estimates[0]), rng)
        curve: Floats = survival_curves(read, stopped, np.ones((1, len(read))), self.positions)[0]
        return curve

    def plot_survival(
        self, ax: "Axes", *, level: float = LEVEL, n_boot: int = ENVELOPES, seed: int = 1
    ) -> None:
        """Plot the Kaplan-Meier curve, the fitted line, and a simulated envelope.

        The envelope is of studies from the fit.

        The envelope is pointwise; in the simulated studies each text has a reader of its own. An infinite patience has
        neither line nor envelope.
        """
        ax.step(self.positions, self.curve, where="post", color="0.25", label="Kaplan-Meier")
        if math.isfinite(self.estimates[0]):
            rng = np.random.default_rng(seed)
            curves = [self._simulated_curve(rng) for _ in range(n_boot)]
            low, high = np.quantile(curves, tails(level), axis=0)
            ax.fill_between(self.positions, low, high, color=BAND, step="post", label=band_label(level))
            label = f"fitted, L = {self.estimates[0]:.0f}"
            ax.plot(self.positions, self.line, color="#0072b2", linestyle="--", label=label)
        ax.set(
            xlabel="position (counted characters)",
            ylabel="share still reading",
            ylim=(0, 1.02),
            xlim=(0, None),
        )
        label_axes(
            ax, "Patience from stops: readers still reading", "the curve should mostly lie inside the band"
        )


def simulated_stops(text_chars: Floats, patience: float, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Draw readers of texts; return positions, ascending, and who stopped there."""
    read, reached_end = drawn_stops(text_chars, patience, rng)
    ends = np.sort(read[reached_end])
    stops = np.sort(read[~reached_end])
    index = np.searchsorted(stops, ends, side="right") + np.arange(len(ends))
    stopped = np.ones(len(read), dtype=bool)
    stopped[index] = False
    ascending = np.empty(len(read))
    ascending[stopped], ascending[index] = stops, ends
    return ascending, stopped


def fit_patience_from_stops(
    stops: Stops, *, rng: np.random.Generator, resamples: int = RESAMPLES
) -> StopsFit:
    """Fit the patience whose line is closest to the survival curve of stops.

    The line is the linear decay of the patience.

    Parameters
    ----------
    stops : Stops
        As `stops_of_texts` makes them of table stops.
    rng : Generator
        Source of the worker bootstrap.
    resamples : int
        Bootstrap samples.

    Returns
    -------
    StopsFit
        With parameter ``patience_chars_stops``, infinite where nobody stopped before a text's end.
    """
    curve = reading_curve(stops)
    kappa = curve.line()
    survival = curve.survival(np.ones((1, len(stops.low))))[0]
    return StopsFit(
        parameters=MappingProxyType({NAME: 1 / kappa if kappa > 0 else math.inf}),
        unit="counted characters",
        method="Kaplan-Meier, least squares",
        uncertainty=_uncertainty(stops, curve, kappa, resamples, rng),
        n_workers=len(stops.people),
        n_rows=len(stops.low),
        n_censored=int((~stops.stopped).sum()),
        details=MappingProxyType(
            {"share_reading": float(survival[-1]), "last_position": float(curve.positions[-1])}
        ),
        diagnostics=_edges(kappa, len(stops.people)),
        positions=curve.positions,
        curve=survival,
        text_chars=stops.length,
    )


def _edges(kappa: float, workers: int) -> tuple[Diagnostic, ...]:
    """Yield notes on an estimate at an end, or without an interval."""
    no_bound = "Nobody stopped before the end of a text: the patience has no bound."
    infinite = (warning("infinite_patience", no_bound),) if kappa == 0 else ()
    return (*infinite, *on_single("worker", workers, "others"))


class ReadingCurve(NamedTuple):
    """Stops spread over their intervals of uncertainty, as points of a curve.

    It has ascending positions, the stops at each, and the row that each is a part of.

    ``pull``: how far kappa moves with the kappa up to which stops are spread; 0 where these are known exactly.
    """

    read: Floats
    stopped: Bools
    row: Ints
    share: float
    positions: Floats
    pull: float = 0.0

    def survival(self, weights: Floats) -> Floats:
        """Return the survival curve of weighted rows, (b, n) -> (b, g)."""
        return survival_curves(self.read, self.stopped, weights[:, self.row] * self.share, self.positions)

    def line(self) -> float:
        """Return kappa of all rows."""
        return float(line_fits(self.survival(np.ones((1, int(self.row.max()) + 1))), self.positions)[0])

    def kappas(self, weights: Floats) -> Floats:
        """Return kappa of weighted rows, (b, n) -> (b,)."""
        step = max(1, CELLS_AT_ONCE // len(self.read))
        pieces = [
            line_fits(self.survival(weights[at : at + step]), self.positions)
            for at in range(0, len(weights), step)
        ]
        centre = self.line()
        return np.maximum(0.0, centre + (np.concatenate(pieces) - centre) / (1 - self.pull))


def reading_curve(stops: Stops) -> ReadingCurve:
    """Spread each stop evenly over its interval, as far as the fitted patience goes.

    The interval holds the characters between which the reader stopped.
    """
    if np.array_equal(stops.high, stops.low):
        return _spread_over(stops, stops.high, 1)

    def spread(kappa: float) -> ReadingCurve:
        most = np.maximum(1 / kappa if kappa > 0 else np.inf, stops.low + 1)
        return _spread_over(stops, np.clip(stops.high, stops.low, most), PARTS)

    kappa = 0.0
    for _ in range(ROUNDS):
        kappa = spread(kappa).line()
    beside = [spread(kappa * (1 + side)).line() for side in (-NEAR, NEAR)]
    pull = (beside[1] - beside[0]) / (2 * NEAR * kappa) if kappa > 0 else 0.0
    return spread(kappa)._replace(pull=float(np.clip(pull, 0.0, 0.8)))


def _spread_over(stops: Stops, high: Floats, parts: int) -> ReadingCurve:
    places = (np.arange(parts) + 0.5) / parts if parts > 1 else np.ones(1)
    read = (stops.low[:, None] + (high - stops.low)[:, None] * places).ravel()
    stopped, row = np.repeat(stops.stopped, parts), np.repeat(np.arange(len(stops.low)), parts)
    order = np.lexsort((row, ~stopped, read))
    read = read[order]
    return ReadingCurve(read, stopped[order], row[order], 1 / parts, curve_positions(read))


def curve_positions(read: Floats) -> Floats:
    """Return even positions up to the 99 % quantile of stops.

    Curve and line are compared there.
    """
    last = float(np.quantile(read, 0.99))
    return np.linspace(last / POSITIONS, last, POSITIONS)


def survival_curves(read: Floats, stopped: Bools, weights: Floats, positions: Floats) -> Floats:
    """Return Kaplan-Meier curves of weighted stops.

    S(x) = prod_{j : x_j <= x, stopped} (1 - w_j / n_j), n_j the weight of the rows from j on

    Parameters
    ----------
    read : (n,) ndarray of float
        Ascending positions; at equal ones, stops before censored rows.
    stopped : (n,) ndarray of bool
        False: censored, the text was read to its end.
    weights : (b, n) ndarray of float
        How often each row counts in each of b samples.
    positions : (g,) ndarray of float
        Where to evaluate.

    Returns
    -------
    (b, g) ndarray of float
        Share still reading beyond each position. Where nobody is left it stays as it was.
    """
    at_risk = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    share = np.divide(weights * stopped, at_risk, out=np.zeros_like(weights), where=at_risk > 0)
    survival = np.cumprod(1 - share, axis=1)
    before = np.searchsorted(read, positions, side="right")
    return np.concatenate([np.ones((len(weights), 1)), survival], axis=1)[:, before]


def line_fits(curves: Floats, positions: Floats) -> Floats:
    """Return the kappa = 1 / L of the line closest to each curve.

    It minimises sum_g (S(g) - max(0, 1 - kappa g))^2.

    For each number m of positions before L, the sum is a parabola in kappa, cut to the kappa that leave m positions
    before L; the smallest of the m minima is the exact one.

    Parameters
    ----------
    curves : (b, g) ndarray of float
        S at the positions.
    positions : (g,) ndarray of float
        Ascending and positive.

    Returns
    -------
    (b,) ndarray of float
        0 where nobody ever stopped.
    """
    drop = 1 - curves
    most = 1 / positions
    least = np.append(most[1:], 0.0)
    cross, square = np.cumsum(drop * positions, axis=1), np.cumsum(positions**2)
    kappa = np.clip(cross / square, least, most)
    before = np.cumsum(drop**2, axis=1) - 2 * kappa * cross + kappa**2 * square
    after = (curves**2).sum(axis=1, keepdims=True) - np.cumsum(curves**2, axis=1)
    best = (before + after).argmin(axis=1)
    return np.asarray(kappa[np.arange(len(curves)), best])


def _uncertainty(
    stops: Stops, curve: ReadingCurve, kappa: float, resamples: int, rng: np.random.Generator
) -> MappingProxyType[str, Uncertainty]:
    """Return the error by workers and shared texts, else the bootstrap over workers."""
    workers, texts = len(stops.people), int(stops.text.max()) + 1
    if workers < 2:
        return MappingProxyType({})
    if not 2 <= texts < len(stops.text):
        values = curve.kappas(cluster_counts(workers, resamples, rng)[:, stops.worker])
        boot = Replicates(values=values[:, None], scale=Scale.INVERSE, clusters=workers)
        return MappingProxyType({"worker_bootstrap": boot})
    by_worker, by_text, by_both = (
        float(jackknife_covariance(curve.kappas(_without_groups(clusters))[:, None])[0, 0])
        for clusters in (stops.worker, stops.text, couple_codes(stops.worker, stops.text))
    )
    error = crossed_error(kappa, by_worker, max(by_text - by_both, 0.0), workers, texts, Scale.INVERSE)
    return MappingProxyType({"worker_and_text": error})


def crossed_error(
    centre: float, by_worker: float, of_texts: float, workers: int, texts: int, scale: Scale
) -> StudentT:
    """Return Student's t of the variance by workers plus that added by texts.

    Degrees of freedom follow Satterthwaite's rule.
    """
    variance = by_worker + of_texts
    parts = by_worker**2 / (workers - 1) + of_texts**2 / (texts - 1)
    df = variance**2 / parts if parts > 0 else workers - 1.0
    return StudentT(centre=np.array([centre]), cov=np.array([[variance]]), df=df, scale=scale)


def _without_groups(clusters: Ints) -> Floats:
    """Return the weight of each row without each group of clusters, (groups, n)."""
    group = jackknife_groups(clusters)
    return np.asarray(1.0 - (group[None] == np.arange(group.max() + 1)[:, None]), dtype=np.float64)


def logliks_of_people(stops: Stops, patience: Floats) -> Floats:
    """Return each person's log-likelihood at each patience, (people, g).

    Stops are uniform up to the patience.
    """
    within = np.minimum(stops.high[:, None], patience) - np.minimum(stops.low[:, None], patience)
    known = stops.high > stops.low
    wide = np.where(known, stops.high - stops.low, 1.0)[:, None]
    density = np.where(known[:, None], within / wide, stops.high[:, None] < patience) / patience
    share = np.where(stops.stopped[:, None], density, np.maximum(0.0, 1 - stops.low[:, None] / patience))
    rare = np.where(stops.stopped, 1 / stops.length, 0.5)[:, None]
    return stops.summed(np.log((1 - LAPSES) * share + LAPSES * rare))
