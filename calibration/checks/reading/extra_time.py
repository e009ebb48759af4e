"""Do some people's reads hold time that is not reading?

As in a tab in the background.

Beside people whose reads follow the law of `calibration.models.reading.mixture` stands a class, a share pi of the workers, of whose reads a
share q took a time T that has nothing to do with length and is longer than reading takes,

    log T ~ N(m, d^2),    exp(m) at least 3 times the median time of all reads,

while all their other reads follow that law. With pi = 1 everybody has such reads. All nine parameters, those of readers among them, maximise
one likelihood, so that the mu and sigma found are those of everybody's reading. Twice the gain is held against chi-squared with 5 degrees of
freedom: four numbers more, of which the data tell none where pi or q is 0 (in studies of the model as drawn here it exceeds the limit of .05
in .03 or less).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtrc, expit, log_expit, logit, ndtr

from calibration.checks.finding import REJECTED, Explains, Finding, other_laws
from calibration.checks.reading.alike_times import NOT_READING
from calibration.inference.formatting import format_p
from calibration.inference.results import LEVEL
from calibration.inference.uncertainty import Scale, StudentT
from calibration.models.reading.fit import MU, SIGMA, ReadingSpeedFit
from calibration.models.reading.law import ReadLaw
from calibration.models.reading.mixture import N_FREE, MixtureMaximum, reading_sample
from calibration.models.reading.rows import TimedReads
from calibration.user_model.model import OtherLaw
from metrics.arrays import Floats
from metrics.errors import percent

DF = 5
MAX_WORKERS, MAX_READS = 300, 60
"""Largest numbers of workers, and of reads of each; of more, evenly chosen ones."""
MIN_EXTRA_TIMES = 3.0
"""Smallest extra time, in median times."""
MIN_READS = 5
"""Smallest number of reads with extra time for a law."""
_HOPELESS = 3.0
"""Smallest gain of a class that is refitted with the readers' law free.

Twice the gain in log-likelihood with the readers' law as it is; less is no news.

Twice the gain with the readers' law as it is.
"""
_STARTS = ((0.2, 0.4, 10.0), (0.9, 0.05, 20.0))
"""Starts of pi, q, and T in median times."""
_ANYWHERE = (-20.0, 20.0)
"""Bounds of a logarithm, far beyond what people do, which keep steps finite."""
_STEP = 1e-4
_REACH = 5.0
_ROOT_2_PI = math.sqrt(2 * math.pi)


class ExtraTime(NamedTuple):
    """Likeliest class of people with extra time.

    Attributes
    ----------
    point : (9,) ndarray of float
        mu, log sigma, log tau, a_idle, a_skimmed, logit pi, logit q, m, log d.
    ratio : float
        Twice the log-likelihood that it gains.
    error : (2,) ndarray of float
        Of mu and log sigma; nan where the likelihood is flat.
    """

    point: Floats
    ratio: float
    error: Floats


def check_extra_time(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Compare a class of people whose reads hold extra time with readers alone."""
    found = extra_time(data)
    if found is None:
        return None
    p_value = float(chdtrc(DF, found.ratio))
    mu, sigma = float(found.point[0]), math.exp(found.point[1])
    people, share = expit(found.point[5:7]).tolist()
    number = people * data.n_workers
    seconds = math.exp(found.point[7])
    return Finding(
        name="extra_time",
        p_value=p_value,
        explains=NOT_READING,
        gain=found.ratio / 2,
        sentence=f"About {percent(share)} of the reads of about {number:.0f} of {data.n_workers} workers took some {seconds:.0f} s, whatever their length "
        f"({format_p(p_value)}): time away, or with the page in the background. With such reads in the law mu is {mu:.3g} and sigma {sigma:.3g}, "
        f"without {fit.estimates[0]:.3g} and {fit.estimates[1]:.3g}.",
        sensitivity=_laws(found, data.n_workers, "better" if p_value < REJECTED else "as well"),
    )


def _laws(found: ExtraTime, workers: int, explains: Explains) -> dict[str, tuple[OtherLaw, ...]]:
    error = StudentT(
        centre=found.point[:2], cov=np.diag(found.error**2), df=workers - 1, scale=(Scale.IDENTITY, Scale.LOG)
    )
    estimates = {MU: float(found.point[0]), SIGMA: math.exp(found.point[1])}
    return other_laws("reads with extra time", explains, estimates, error.intervals(LEVEL))


def extra_time(data: TimedReads) -> ExtraTime | None:
    """Fit a class of people with extra time, or return None.

    None where readers alone have no maximum, or next to no reads have extra time, or it explains nothing.
    """
    some = _thinned(data)
    _, _, top = reading_sample(some)
    if top is None:
        return None
    crowd = _Crowd(some, top)
    alone = crowd.readers_alone(top.p)
    held = [(value, value) for value in top.p]
    starts = [
        np.concatenate([top.p, [logit(pi), logit(q), crowd.least + math.log(times / MIN_EXTRA_TIMES), 0.0]])
        for pi, q, times in _STARTS
    ]
    best = max((crowd.climbed(start, held) for start in starts), key=lambda at: at[1])
    if 2 * (best[1] - alone) <= _HOPELESS:
        return None
    point, height = crowd.climbed(best[0], [_ANYWHERE] * N_FREE)
    if expit(point[5]) * expit(point[6]) * len(data.worker) < MIN_READS:
        return None
    return ExtraTime(point, 2 * (height - alone), crowd.error(point))


def _thinned(data: TimedReads) -> TimedReads:
    """Return some workers and reads of each, evenly chosen, of very many."""
    every = -(-data.n_workers // MAX_WORKERS)
    begins = np.searchsorted(data.worker, np.arange(data.n_workers))
    place = np.arange(len(data.worker)) - begins[data.worker]
    step = np.maximum(1, -(-np.bincount(data.worker) // MAX_READS))[data.worker]
    rows = (data.worker % every == 0) & (place % step == 0)
    return data if rows.all() else data.of(rows)


class _Crowd:
    """Likelihood of readers, some of whose reads hold extra time.

    Its nodes are those of readers alone, and those that a worker's other reads would have.
    """

    def __init__(self, data: TimedReads, top: MixtureMaximum) -> None:
        self._data = data
        self._log_seconds = data.log_length - data.log_speed
        self.least = float(np.median(self._log_seconds)) + math.log(MIN_EXTRA_TIMES)
        short = self._log_seconds < self.least
        reads = np.bincount(data.worker, short) * math.exp(-2 * top.p[2])
        total = np.bincount(data.worker, data.log_speed * short) * math.exp(-2 * top.p[2])
        own = math.exp(-2 * top.p[1])
        centre, reach = (total + own * top.p[0]) / (reads + own), _REACH / np.sqrt(reads + own)
        self._likelihood = top.likelihood.covering(centre - reach, centre + reach)
        self._at: tuple[bytes, list[Any]] = (b"", [])

    def readers_alone(self, p: Floats) -> float:
        """Return the log-likelihood of readers alone, with its penalty."""
        return float(self._likelihood.terms(p)[0].sum()) + self._likelihood.penalty(p)[0]

    def climbed(self, start: Floats, readers: list[tuple[Any, Any]]) -> tuple[Floats, float]:
        """Climb from a point; ``readers`` are the bounds of the readers' parameters."""
        bounds = [*readers, (-7, 7), (-7, 4), (self.least, self.least + 8), (math.log(0.1), math.log(2))]

        def loss(point: Floats) -> tuple[float, Floats]:
            value, slope = self.height(point)
            return -value, -slope

        arguments: Any = {"jac": True, "method": "L-BFGS-B", "bounds": bounds}
        top = minimize(loss, start, options={"maxiter": 60, "ftol": 1e-7}, **arguments)
        return np.asarray(top.x), -float(top.fun)

    def error(self, point: Floats) -> Floats:
        """Return the errors of mu and log sigma from differences of the gradient."""
        here = self.height(point)[1]
        hessian = np.stack(
            [(self.height(point + step)[1] - here) / _STEP for step in _STEP * np.eye(len(point))]
        )
        information = -(hessian + hessian.T) / 2
        variance = np.diag(np.linalg.pinv(information, hermitian=True))[:2]
        return np.sqrt(np.where(variance > 0, variance, np.nan))

    def height(self, point: Floats) -> tuple[float, Floats]:
        """Return the penalised log-likelihood, and its gradient by Fisher's identity.

        The penalty is that of readers alone.
        """
        p, sigma = point[:N_FREE], math.exp(point[1])
        people, share = expit(point[5]), expit(point[6])
        extra, slopes_of_extra = self._extra(point[7], math.exp(point[8]))
        total, gradient = self._likelihood.penalty(p)
        gradient = np.append(gradient, np.zeros(4))
        for block, law, z, prior in self._laws(p):
            ratio = extra[block.rows, None] / law.value
            mixed = 1 - share + share * ratio
            log_f = np.log(law.value)
            readers = np.add.reduceat(log_f, block.starts, axis=0) + prior
            others = readers + np.add.reduceat(np.log(mixed), block.starts, axis=0)
            both = np.stack([log_expit(-point[5]) + readers, log_expit(point[5]) + others])
            highest = both.max(axis=(0, 2), keepdims=True)
            weight = np.exp(both - highest)
            sums = weight.sum(axis=(0, 2), keepdims=True)
            weight /= sums
            total += float((highest + np.log(sums)).sum())
            of_node, of_others = weight.sum(axis=0), weight[1]
            gradient[0] += (of_node * z).sum() / sigma
            gradient[1] += (of_node * (z**2 - 1)).sum()
            rows = of_others[block.worker]
            own = rows / mixed
            reading = weight[0][block.worker] + (1 - share) * own
            gradient[2:N_FREE] += law.slopes(reading).sum(axis=0)
            gradient[5] += of_others.sum() - people * block.n_workers
            gradient[6] += ((ratio - 1) * own).sum() * share * (1 - share)
            gradient[7:] += slopes_of_extra[:, block.rows] @ (share * own / law.value).sum(axis=1)
        return total, gradient

    def _extra(self, m: float, d: float) -> tuple[Floats, Floats]:
        """Return each read's density with extra time, (n,), and its slopes, (2, n).

        In m and log d.
        """
        z, cut = (self._log_seconds - m) / d, self._data.cut
        density = np.exp(-0.5 * z**2) / _ROOT_2_PI
        value = np.where(cut, ndtr(-z), density / d)
        by_m = np.where(cut, density / d, density * z / d**2)
        by_log_d = np.where(cut, density * z, density * (z**2 - 1) / d)
        return value, np.stack([by_m, by_log_d])

    def _laws(self, p: Floats) -> list[Any]:
        """Return the readers' law of each block's reads, with z and prior of its nodes.

        They are kept while p stays.
        """
        if self._at[0] != p.tobytes():
            law, sigma, found = ReadLaw(p), math.exp(p[1]), []
            for block in self._likelihood.blocks:
                nodes = self._likelihood.nodes[block.workers]
                z = (nodes - p[0]) / sigma
                prior = (
                    -0.5 * z**2 - p[1] - math.log(_ROOT_2_PI) + self._likelihood.log_step[block.workers, None]
                )
                found.append((block, law.of(block.x - nodes[block.worker], block.cut), z, prior))
            self._at = (p.tobytes(), found)
        return self._at[1]
