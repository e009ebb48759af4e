"""Patience L from stop positions: how far into a text people read; and what naive code makes of stops.

If the stop X is uniform on (0, L), the share still reading at x is max(0, 1 - x / L): the decay of U- and M-measure
is the survival curve of stops. So the curve is estimated (Kaplan and Meier 1958; a text read to its end is censored
there), and L is the one whose line is closest to it by least squares. The largest stop is no estimate: a single wrong
one moves it. The unit of the interval is the worker, and the text too where texts differ.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from calibration.inference.clusters import cluster_counts, jackknife_covariance, jackknife_groups
from calibration.inference.results import CalibrationResult, NotIdentifiedError, info, warning
from calibration.inference.uncertainty import AnyForm, Replicates, Scale, StudentT, Uncertainty
from calibration.patience.judges import PatienceSpread, spread_of
from calibration.patience.readers import (
    Stops,
    chance_that_readers_alike,
    chance_that_texts_alike,
    closest_lines,
    curve_positions,
    exponential_gain,
    read_stops,
    reader_crowd,
    survival_curves,
)
from calibration.patience.stops_result import StopsFit
from calibration.user_model.model import Diagnostic
from metrics.arrays import Bools, Floats, Ints
from metrics.errors import listed

NAME = "patience_chars_stops"
SCREEN_CHARS = MappingProxyType({"en": 420, "ja": 280})
"""Counted characters that one screen of a phone shows (the limits of NTCIR-12's first layer); en for other languages.
The end of a text that fits on a screen is seen without reading on, so it says nothing about patience."""
RESAMPLES = 1000
CELLS_AT_ONCE = 200_000
MOST_SURVIVORS = 0.3
PARTS = 10
"""Places over which a stop that is known to a screen is spread evenly."""
ROUNDS = 5
NEAR = 0.05
"""Relative distance over which the pull is measured."""
DIFFER = 0.01
"""A p-value below it says that people, or texts, differ."""
MAY_DIFFER = 0.1
"""A p-value below it counts texts as clusters."""
EXPONENTIAL_GAIN = 1.0
"""Log-likelihood from which on the exponential decay explains stops decisively better."""
MOST_NAMES = 5


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
        page side by side a stop measures the screen. Ranked lists (with ``ranks``) are no texts. Visits to streams count where no text was judged.
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
    screen = SCREEN_CHARS.get(language or "en", SCREEN_CHARS["en"])
    stops = text_stops(stops)
    usable, unused = _usable(stops, screen)
    if usable.empty:
        raise NotIdentifiedError(f"no stop on a text longer than one screen, one text at a time ({unused})")
    known = read_stops(usable)
    curve = _curve(known)
    kappa, pi = curve.line(with_finishers=with_finishers)
    survival = curve.survival(np.ones((1, len(known.low))))[0]
    notes, spread = _about_readers(known, kappa, screen)
    uncertainty = _uncertainty(known, curve, kappa, resamples, rng, with_finishers=with_finishers)
    if known.step_is_guessed:
        nearest = known.rounded()
        other = _curve(nearest)
        there = other.line(with_finishers=with_finishers)[0]
        rounded = _uncertainty(nearest, other, there, resamples, rng, with_finishers=with_finishers)
        uncertainty = {name: _either(one, rounded.get(name)) for name, one in uncertainty.items()}
    return StopsFit(
        parameters=MappingProxyType({NAME: 1 / kappa if kappa > 0 else math.inf}),
        unit="counted characters",
        method=f"Kaplan-Meier, least squares{' with finishers' if with_finishers else ''}",
        uncertainty=MappingProxyType(uncertainty),
        n_workers=len(known.people),
        n_rows=len(usable),
        n_censored=int((~known.stopped).sum()),
        details=MappingProxyType(
            {"share_reading": float(survival[-1]), "last_position": float(curve.positions[-1])}
            | ({"share_finishers": pi} if with_finishers else {})
        ),
        diagnostics=(
            *_about_rows(usable, known, unused if len(usable) < len(stops) else None),
            *_diagnostics(kappa, survival, curve.positions, len(known.people)),
            *notes,
        ),
        positions=curve.positions,
        curve=survival,
        text_chars=known.length,
        finishers=pi if with_finishers else None,
        spread=spread,
    )


class _ReadingCurve(NamedTuple):
    """Stops spread over what is known of them: ascending places, who stopped there, which row each is a part of.

    ``pull``: how far kappa moves with the kappa up to which stops are spread; 0 where these are known exactly.
    """

    read: Floats
    stopped: Bools
    row: Ints
    share: float
    positions: Floats
    pull: float = 0.0

    def survival(self, weights: Floats) -> Floats:
        """Return the survival curve where each row counts so often, (b, n) -> (b, g)."""
        return survival_curves(self.read, self.stopped, weights[:, self.row] * self.share, self.positions)

    def line(self, *, with_finishers: bool) -> tuple[float, float]:
        """Return kappa and the share of finishers of all rows."""
        whole = self.survival(np.ones((1, int(self.row.max()) + 1)))
        kappa, pi = closest_lines(whole, self.positions, with_finishers=with_finishers)
        return float(kappa[0]), float(pi[0])

    def kappas(self, weights: Floats, *, with_finishers: bool = False) -> Floats:
        """Return kappa where each row counts so often, (b, n) -> (b,)."""
        step = max(1, CELLS_AT_ONCE // len(self.read))
        pieces = [
            closest_lines(
                self.survival(weights[at : at + step]), self.positions, with_finishers=with_finishers
            )[0]
            for at in range(0, len(weights), step)
        ]
        centre = self.line(with_finishers=with_finishers)[0]
        return np.maximum(0.0, centre + (np.concatenate(pieces) - centre) / (1 - self.pull))


def _curve(stops: Stops) -> _ReadingCurve:
    """Spread each stop evenly over the characters between which it lies, as far as the fitted patience goes."""
    if np.array_equal(stops.high, stops.low):
        return _spread_over(stops, stops.high, 1)

    def spread(kappa: float) -> _ReadingCurve:
        most = np.maximum(1 / kappa if kappa > 0 else np.inf, stops.low + 1)
        return _spread_over(stops, np.clip(stops.high, stops.low, most), PARTS)

    kappa = 0.0
    for _ in range(ROUNDS):
        kappa = spread(kappa).line(with_finishers=False)[0]
    beside = [spread(kappa * (1 + side)).line(with_finishers=False)[0] for side in (-NEAR, NEAR)]
    pull = (beside[1] - beside[0]) / (2 * NEAR * kappa) if kappa > 0 else 0.0
    return spread(kappa)._replace(pull=float(np.clip(pull, 0.0, 0.8)))


def _spread_over(stops: Stops, high: Floats, parts: int) -> _ReadingCurve:
    places = (np.arange(parts) + 0.5) / parts if parts > 1 else np.ones(1)
    read = (stops.low[:, None] + (high - stops.low)[:, None] * places).ravel()
    stopped, row = np.repeat(stops.stopped, parts), np.repeat(np.arange(len(stops.low)), parts)
    order = np.lexsort((row, ~stopped, read))
    read = read[order]
    return _ReadingCurve(read, stopped[order], row[order], 1 / parts, curve_positions(read))


def text_stops(stops: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table stops that are of texts, and not of ranked lists."""
    return stops[stops["ranks"].isna()] if "ranks" in stops else stops


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


def longest_versions(stops: pd.DataFrame) -> "pd.Series[float]":
    """Return the largest text_chars of each row's text: of all rows with its topic and system.

    How long a two-layered text is depends on the layers its reader opened, and who stops early opens none. Choosing
    rows by their own length would drop early stops. Rows without a system are taken by their own length.
    """
    longest = stops.groupby(["topic", "system"])["text_chars"].transform("max")
    return longest.where(stops["system"].notna(), stops["text_chars"])


def _uncertainty(
    stops: Stops,
    curve: _ReadingCurve,
    kappa: float,
    resamples: int,
    rng: np.random.Generator,
    *,
    with_finishers: bool,
) -> dict[str, Uncertainty]:
    """Return the bootstrap over workers, and before it the errors by workers and texts where texts may differ."""
    workers = len(stops.people)
    if workers < 2:
        return {}
    counts = cluster_counts(workers, resamples, rng)
    values = curve.kappas(counts[:, stops.worker], with_finishers=with_finishers)
    boot = Replicates(values=values[:, None], scale=Scale.INVERSE, clusters=workers)
    texts = int(stops.text.max()) + 1
    if with_finishers or not 2 <= texts < len(stops.text) or chance_that_texts_alike(stops) > MAY_DIFFER:
        return {"worker_bootstrap": boot}
    variance = _crossed_variance(stops, curve)
    crossed = StudentT(
        centre=np.array([kappa]),
        cov=np.array([[variance]]),
        df=min(workers, texts) - 1,
        scale=Scale.INVERSE,
    )
    return {"worker_and_text": crossed, "worker_bootstrap": boot}


def _either(ends: Uncertainty, nearest: Uncertainty | None) -> Uncertainty:
    """Return the error where stops may be ends of screens, or numbers rounded to the nearest."""
    return ends if nearest is None else AnyForm(plain=ends, others=(nearest,))


def _crossed_variance(stops: Stops, curve: _ReadingCurve) -> float:
    """Return the variance of kappa by workers and by texts at once, from leaving out groups of each and of both."""
    cells = np.unique(stops.worker * (int(stops.text.max()) + 1) + stops.text, return_inverse=True)[1]
    by_worker, by_text, by_both = (
        float(jackknife_covariance(curve.kappas(_without_groups(of))[:, None])[0, 0])
        for of in (stops.worker, stops.text, cells)
    )
    return max(by_worker, by_text, by_worker + by_text - by_both)


def _without_groups(clusters: Ints) -> Floats:
    """Return how often each row counts without each group of clusters, (groups, n)."""
    group = jackknife_groups(clusters)
    return np.asarray(1.0 - (group[None] == np.arange(group.max() + 1)[:, None]), dtype=np.float64)


def _about_readers(
    stops: Stops, kappa: float, screen: float
) -> tuple[list[Diagnostic], PatienceSpread | None]:
    """Return how readers and texts differ, the cause first found for itself, and the spread of patience."""
    if kappa == 0 or len(stops.people) < 2:
        return [], None
    careless, crowd = reader_crowd(stops, 1 / kappa, screen)
    spread = spread_of(crowd, len(stops.people), len(stops.low))
    notes = []
    if careless.people.any():
        rest = stops.of(~careless.people[stops.worker])
        notes.append(_careless(stops, rest, careless.people, kappa))
        stops = rest
    if len(stops.low) and chance_that_texts_alike(stops) < DIFFER:
        notes.append(
            warning(
                "texts_differ",
                "How far a text is read differs between texts by more than chance: the interval counts texts as drawn from many, "
                "like people; L is that of such texts on average. Use more texts.",
            )
        )
    if len(stops.low) and chance_that_readers_alike(stops) < DIFFER:
        notes.append(
            warning(
                "patience_differs",
                f"Patience differs between people by more than chance: half of them read on for more than {spread.median:.0f} characters "
                f"(coefficient of variation {spread.best:.2f}, see patience_chars_spread). The L given is the one line closest to all.",
            )
        )
    elif not notes and exponential_gain(stops, 1 / kappa) > EXPONENTIAL_GAIN:
        notes.append(
            warning(
                "decay_exponential",
                "Stops fall off exponentially rather than along a line: an L of the linear decay is then no more than the closest "
                "line, and longer than the length after which 1/e still read.",
            )
        )
    return notes, spread


def _careless(stops: Stops, rest: Stops, people: Bools, kappa: float) -> Diagnostic:
    names = [name for name, out in zip(stops.people, people, strict=True) if out]
    without = _curve(rest).line(with_finishers=False)[0] if len(rest.low) else 0.0
    other = f"{1 / without:.0f}" if without > 0 else "without a bound"
    return warning(
        "careless_workers",
        f"{len(names)} of {len(people)} people ({listed(names, most=MOST_NAMES)}) always go to the end, or never beyond the first screen, as who "
        f"does not read: they are in this patience of {1 / kappa:.0f}; without them it is {other}.",
    )


def _about_rows(usable: pd.DataFrame, stops: Stops, unused: str | None) -> Iterator[Diagnostic]:
    """Yield what was left out, how stops are known, and a warning where they are of visits to streams."""
    if unused:
        yield info("stops_not_used", f"Left out: {unused}.")
    if (stops.high > stops.low).any() or stops.step:
        how = f" All stops are multiples of {stops.step:.0f} characters." if stops.step else ""
        if stops.step_is_guessed:
            how += " They may be rounded numbers too, which cannot be told: the interval holds both."
        yield info(
            "stops_by_screen",
            f"Stops are known to a screen: each lies somewhere in the last one that was seen, evenly as far as L goes.{how}",
        )
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
    stops = text_stops(stops)
    stopped = stops.loc[~stops["reached_end"].astype(bool), "chars_read"].to_numpy(np.float64)
    if not len(stopped):
        raise NotIdentifiedError("nobody stopped before the end of a text")
    return _naive(
        2 * float(np.median(stopped)), "twice the median stop, texts read to the end dropped", stops
    )


def naive_largest_stop(stops: pd.DataFrame) -> CalibrationResult:
    """Take the largest stop, the maximum of the likelihood if stops were exact: a single wrong one moves it."""
    stops = text_stops(stops)
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
