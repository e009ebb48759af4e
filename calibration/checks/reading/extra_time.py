"""Do some people pause in, or skim, a share of their reads that others do not?

An example is a page left open in the background.

The law of `calibration.models.reading.mixture` has pauses and skimmed reads, as often of everybody: who pauses in half of the reads looks like
a slow reader. Beside it stands a class, a share pi of the workers, of whose reads a share q took exp(m) times as long as reading does,

    e ~ N(-m, d^2),    exp(m) at least 3 (a pause) or at most 1/3 (skimmed),

while all their other reads follow that law. All nine parameters, those of readers among them, maximise one likelihood, so that the mu and sigma
found are those of everybody's reading. Twice the gain over the best law in which all are alike, which is that of the model or has pi = 1 with
either sign of m, is compared with chi-squared with 3 degrees of freedom: pi, and two signs of m (in studies of people who are alike the .95
quantile is 2 to 4). Pauses of everybody alike need no name: the model's law has them.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import chdtrc, expit, log_expit, logit, ndtr

from calibration.checks.finding import REJECTED, Finding, explains_at, other_laws
from calibration.checks.reading.alike_times import NOT_READING
from calibration.inference.formatting import format_p
from calibration.inference.maximise import information_at
from calibration.inference.results import LEVEL
from calibration.inference.uncertainty import StudentT
from calibration.models.reading.fit import MU, SCALES, SIGMA, ReadingSpeedFit
from calibration.models.reading.law import ReadLaw
from calibration.models.reading.mixture import N_FREE, MixtureMaximum, reading_sample
from calibration.models.reading.rows import TimedReads
from calibration.user_model.model import OtherLaw
from metrics.arrays import Bools, Floats
from metrics.errors import percent

DF = 3
MAX_WORKERS, MAX_READS = 200, 30
"""Largest numbers of workers, and of reads of each; of more, evenly chosen ones."""
MIN_TIMES = math.log(3.0)
"""Log of how many times longer, or shorter, such reads take at least."""
MIN_READS = 5
"""Smallest number of such reads for a law."""
_HOPELESS = 3.0
"""Smallest gain of a class that is refitted with the readers' law free.

It is twice the gain in log-likelihood with the readers' law unchanged; less is negligible.
"""
_START = (logit(0.2), logit(0.5), math.log(5.0), math.log(0.5))
"""Start of logit pi, logit q, m (or -m) and log d."""
_EVERYBODY = 12.0
"""Logit of pi where everybody is of the class."""
_ANYWHERE = (-20.0, 20.0)
"""Bounds of a logarithm, far beyond what people do, which keep steps finite."""
_STEP = 1e-4
_ROOT_2_PI = math.sqrt(2 * math.pi)


class OwnShare(NamedTuple):
    """Likeliest class of people with pauses, or skimmed reads, of their own.

    Attributes
    ----------
    point : (9,) ndarray of float
        mu, log sigma, log tau, a_idle, a_skimmed, logit pi, logit q, m, log d.
    ratio : float
        Twice the log-likelihood that it gains over people who are alike.
    error : (2,) ndarray of float
        Of mu and log sigma; nan where the likelihood is flat.
    """

    point: Floats
    ratio: float
    error: Floats

    @property
    def p_value(self) -> float:
        """Chance that people who are alike would gain as much."""
        return float(chdtrc(DF, self.ratio))


def check_extra_time(fit: ReadingSpeedFit, data: TimedReads) -> Finding | None:
    """Compare people who pause, or skim, in a share of their own with people alike."""
    share_class = own_share(data)
    if share_class is None:
        return None
    p_value = share_class.p_value
    mu, sigma = float(share_class.point[0]), math.exp(share_class.point[1])
    people, share = expit(share_class.point[5:7]).tolist()
    number, times = people * data.n_workers, math.exp(abs(share_class.point[7]))
    is_pause = share_class.point[7] > 0
    length, cause = (
        ("as long as", "time away, or with the page in the background")
        if is_pause
        else ("less time than", "they were skimmed")
    )
    return Finding(
        name="extra_time" if is_pause else "skimmed_reads",
        p_value=p_value,
        explains=NOT_READING,
        gain=share_class.ratio / 2,
        sentence=f"About {percent(share)} of the reads of about {number:.0f} of {data.n_workers} workers took some {times:.0f} times {length} reading them does "
        f"({format_p(p_value)}): {cause}. With such people in the law mu is {mu:.3g} and sigma {sigma:.3g}, without {fit.estimates[0]:.3g} and "
        f"{fit.estimates[1]:.3g}.",
        sensitivity=speed_laws(
            "some people pause" if is_pause else "some people skim",
            p_value,
            share_class.point,
            np.diag(share_class.error**2),
            data.n_workers,
        ),
    )


def speed_laws(
    law: str, p_value: float, point: Floats, cov: Floats, workers: int
) -> dict[str, tuple[OtherLaw, ...]]:
    """Return mu and sigma under a law, of which ``point`` begins with mu and log sigma."""
    error = StudentT(centre=point[:2], cov=cov, df=workers - 1, scale=SCALES)
    estimates = {MU: float(point[0]), SIGMA: math.exp(point[1])}
    return other_laws(law, explains_at(p_value), estimates, error.intervals(LEVEL))


def clear_share(data: TimedReads) -> OwnShare | None:
    """Return the class if it explains more than chance would, else None."""
    share_class = own_share(data)
    return share_class if share_class is not None and share_class.p_value < REJECTED else None


@lru_cache(maxsize=4)
def own_share(data: TimedReads) -> OwnShare | None:
    """Fit the likelier class, of pauses or of skimmed reads, or return None.

    The result is None where readers alone have no maximum, hardly any reads are of the class, or it explains
    nothing.
    """
    some = evenly_chosen(data)
    _, _, top = reading_sample(some)
    if top is None:
        return None
    crowd = _Crowd(some, top)
    alone = crowd.readers_alone(top.p)
    fixed_bounds, free = [(value, value) for value in top.p], [_ANYWHERE] * N_FREE
    starts = [np.concatenate([top.p, [*_START[:2], sign * _START[2], _START[3]]]) for sign in (1, -1)]
    rough = [crowd.climbed(start, fixed_bounds) for start in starts]
    if 2 * (max(height for _, height in rough) - alone) <= _HOPELESS:
        return None
    everybody = [crowd.climbed(start, free, everybody=True) for start in starts]
    begun = [point for point, _ in rough]
    begun += [np.concatenate([point[:5], [0.5], point[6:]]) for point, height in everybody if height > alone]
    point, height = max((crowd.climbed(start, free) for start in begun), key=lambda at: at[1])
    ratio = 2 * (height - max(alone, *(at for _, at in everybody)))
    if ratio <= _HOPELESS or expit(point[5]) * expit(point[6]) * len(data.worker) < MIN_READS:
        return None
    return OwnShare(point, ratio, crowd.error(point))


def evenly_chosen(data: TimedReads) -> TimedReads:
    """Return some workers and reads of each, evenly chosen, of very many."""
    every = -(-data.n_workers // MAX_WORKERS)
    begins = np.searchsorted(data.worker, np.arange(data.n_workers))
    rank = np.arange(len(data.worker)) - begins[data.worker]
    step = np.maximum(1, -(-np.bincount(data.worker) // MAX_READS))[data.worker]
    rows = (data.worker % every == 0) & (rank % step == 0)
    return data if rows.all() else data.of(rows)


class _Crowd:
    """Likelihood of readers, some of whom pause in, or skim, a share of their reads.

    Its nodes are those of readers alone, and those from each worker's fastest third of the reads.
    """

    def __init__(self, data: TimedReads, top: MixtureMaximum) -> None:
        order = np.lexsort((-data.log_speed, data.worker))
        reads = np.bincount(data.worker)
        third = data.log_speed[order[np.cumsum(reads) - reads + np.maximum(1, reads // 3) - 1]]
        self._likelihood = top.likelihood.covering(third - 1, third + 1)
        self._at: tuple[bytes, list[Any]] = (b"", [])

    def readers_alone(self, p: Floats) -> float:
        """Return the log-likelihood of readers alone, with its penalty."""
        return float(self._likelihood.terms(p)[0].sum()) + self._likelihood.penalty(p)[0]

    def climbed(
        self, start: Floats, readers: list[tuple[Any, Any]], *, everybody: bool = False
    ) -> tuple[Floats, float]:
        """Climb from a point, whose sign of m stays.

        ``readers`` are the bounds of the readers' parameters; ``everybody`` is of the class.
        """
        reach = (MIN_TIMES, MIN_TIMES + 4)
        m = reach if start[7] > 0 else (-reach[1], -reach[0])
        pi = (_EVERYBODY, _EVERYBODY) if everybody else (-7.0, 7.0)
        bounds = [*readers, pi, (-7, 4), m, (math.log(0.3), math.log(2))]
        start = np.clip(start, *np.array(bounds, dtype=np.float64).T)

        def loss(point: Floats) -> tuple[float, Floats]:
            value, slope = self.height(point)
            return -value, -slope

        arguments: Any = {"jac": True, "method": "L-BFGS-B", "bounds": bounds}
        top = minimize(loss, start, options={"maxiter": 60, "ftol": 1e-7}, **arguments)
        return np.asarray(top.x), -float(top.fun)

    def error(self, point: Floats) -> Floats:
        """Return the errors of mu and log sigma from differences of the gradient."""
        information = information_at(lambda at: self.height(at)[1], point, _STEP)
        variance = np.diag(np.linalg.pinv(information, hermitian=True))[:2]
        return np.sqrt(np.where(variance > 0, variance, np.nan))

    def height(self, point: Floats) -> tuple[float, Floats]:
        """Return the penalised log-likelihood, and its gradient by Fisher's identity.

        The penalty is that of readers alone.
        """
        p, sigma = point[:N_FREE], math.exp(point[1])
        people, share = expit(point[5]), expit(point[6])
        m, d = point[7], math.exp(point[8])
        total, gradient = self._likelihood.penalty(p)
        gradient = np.append(gradient, np.zeros(4))
        for block, law, z, prior in self._laws(p):
            e = block.x - self._likelihood.nodes[block.workers][block.worker]
            extra, slopes_of_extra = _extra(e, block.cut, m, d)
            ratio = extra / law.value
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
            gradient[7:] += (slopes_of_extra * (share * own / law.value)).sum(axis=(1, 2))
        return total, gradient

    def _laws(self, p: Floats) -> list[Any]:
        """Return the readers' law of each block's reads, with z and prior of its nodes.

        They are cached while p is unchanged.
        """
        if self._at[0] != p.tobytes():
            law, sigma, laws = ReadLaw(p), math.exp(p[1]), []
            for block in self._likelihood.blocks:
                nodes = self._likelihood.nodes[block.workers]
                z = (nodes - p[0]) / sigma
                prior = (
                    -0.5 * z**2 - p[1] - math.log(_ROOT_2_PI) + self._likelihood.log_step[block.workers, None]
                )
                laws.append((block, law.of(block.x - nodes[block.worker], block.cut), z, prior))
            self._at = (p.tobytes(), laws)
        return self._at[1]


def _extra(e: Floats, cut: Bools, m: float, d: float) -> tuple[Floats, Floats]:
    """Return the density of such reads, (n, k), and its slopes in m and log d, (2, n, k)."""
    z, cut = (e + m) / d, cut[:, None]
    density = np.exp(-0.5 * z**2) / _ROOT_2_PI
    value = np.where(cut, ndtr(z), density / d)
    by_m = np.where(cut, density / d, -density * z / d**2)
    by_log_d = np.where(cut, -density * z, density * (z**2 - 1) / d)
    return value, np.stack([by_m, by_log_d])
