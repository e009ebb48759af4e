"""Cumulative-link model of graded choices between two things, with sides.

A choice is graded by its signed strength y: 1, 2, ... for the left side, -1, -2, ... for the right one, 0 for neither. With
U = x . w for a design x, left minus right, and logistic F (McCullagh 1980; for comparisons in pairs, with cut points alike on both sides,
Agresti 1992):

    P(y > j) = F(U - t_j),   P(y < -j) = F(-U - t_j),   j = 0, 1, ...,   t_0 < t_1 < ...

where t_0 > 0 if some choices are for neither, else t_0 = 0. A side is a column of ones in x, as in `calibration.inference.choice`. The
log-likelihood is concave in (w, t) (Pratt 1981), so Newton's method with halved steps finds the only maximum. Grades that nobody gave
have no cut point.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logit

from calibration.inference.choice import MAX_ERROR
from calibration.inference.maximise import StoppingRule, maximise_newton
from metrics.arrays import Floats, Ints
from metrics.errors import pluralise

_RULE = StoppingRule(least_promise=1e-10, most_steps=100)
_RIDGE = 1e-12
_LARGEST_SHARE = 0.999


class OrdinalTerms(NamedTuple):
    """Terms of the log-likelihood by judgment, with derivatives in the upper and lower end.

    An end is a cut point less U, from the chosen side; every array is (n,).
    """

    loglik: Floats
    by_upper: Floats
    by_lower: Floats
    by_upper_twice: Floats
    by_lower_twice: Floats
    by_both: Floats


def interval_terms(lower: Floats, upper: Floats) -> OrdinalTerms:
    """Return the terms of log(F(upper) - F(lower)), logistic F; -inf unless upper > lower."""
    width = upper - lower
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        loglik = log_expit(upper) + log_expit(-lower) + np.log(-np.expm1(-width))
        near = 1 / np.expm1(width)
    return OrdinalTerms(
        loglik=np.where(width > 0, loglik, -np.inf),
        by_upper=expit(-upper) + near,
        by_lower=-expit(lower) - near,
        by_upper_twice=-expit(upper) * expit(-upper) - near * (1 + near),
        by_lower_twice=-expit(lower) * expit(-lower) - near * (1 + near),
        by_both=near * (1 + near),
    )


class OrdinalPlace(NamedTuple):
    """Log-likelihood at a point, with its terms by judgment."""

    loglik: float
    terms: OrdinalTerms


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdinalModel:
    """Log-likelihood of graded choices; parameters are weights w and cut points t that are not fixed at 0.

    Attributes
    ----------
    design : (n, k) ndarray of float
        Left minus right.
    grade : (n,) ndarray of int
        As `grades` returns them.
    times : (n,) ndarray of float
        How often each judgment counts.
    """

    design: Floats
    grade: Ints
    times: Floats

    @property
    def levels(self) -> Ints:
        """The levels below each cut point: 0 for neither, 1 for slightly better, ..., (m,)."""
        return np.arange(0 if (self.grade == 0).any() else 1, int(np.abs(self.grade).max()))

    def at(self, point: Floats) -> OrdinalPlace:
        """Return log-likelihood and terms at (w, t); -inf unless cut points ascend."""
        (lower_by_cut, upper_by_cut), level = self.ends, np.abs(self.grade)
        k = self.design.shape[1]
        from_side = self.chosen * (self.design @ point[:k])
        upper = np.where(level == level.max(), np.inf, upper_by_cut @ point[k:] - from_side)
        terms = interval_terms(lower_by_cut @ point[k:] - from_side, upper)
        return OrdinalPlace(float(self.times @ terms.loglik), terms)

    @property
    def chosen(self) -> Floats:
        """1 where the left side or neither was chosen, -1 where the right one was, (n,)."""
        return np.where(self.grade < 0, -1.0, 1.0)

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """Derivatives of the lower and of the upper end of each judgment along the cut points, (n, m) each."""
        level = np.abs(self.grade)[:, None]
        upper = (level == self.levels).astype(np.float64)
        return (level - 1 == self.levels) - upper * (level == 0), upper  # neither: from -t_0 to t_0

    def scores(self, terms: OrdinalTerms) -> tuple[Floats, Floats]:
        """Return the derivatives of each judgment in U, (n,), and along the cut points, (n, m)."""
        lower, upper = self.ends
        by_cut = lower * terms.by_lower[:, None] + upper * terms.by_upper[:, None]
        return -self.chosen * (terms.by_lower + terms.by_upper), by_cut

    def gradient(self, terms: OrdinalTerms) -> Floats:
        """Return the first derivatives, (k + m,)."""
        by_u, by_cut = self.scores(terms)
        return np.append((self.times * by_u) @ self.design, self.times @ by_cut)

    def information(self, terms: OrdinalTerms) -> Floats:
        """Return minus the second derivatives, (k + m, k + m)."""
        lower, upper = (np.hstack([-self.chosen[:, None] * self.design, by_cut]) for by_cut in self.ends)
        of_lower, of_upper, of_both = (
            (self.times * part)[:, None]
            for part in (terms.by_lower_twice, terms.by_upper_twice, terms.by_both)
        )
        across = upper.T @ (of_both * lower)
        own = lower.T @ (of_lower * lower) + upper.T @ (of_upper * upper)
        return -np.asarray(own + across + across.T)

    def information_along(self, terms: OrdinalTerms, way: Floats) -> Floats:
        """Return the information of each judgment, counted once, times a direction, (n, k + m)."""
        lower, upper = (np.hstack([-self.chosen[:, None] * self.design, by_cut]) for by_cut in self.ends)
        on_lower, on_upper = lower @ way, upper @ way
        of_upper = terms.by_upper_twice * on_upper + terms.by_both * on_lower
        of_lower = terms.by_lower_twice * on_lower + terms.by_both * on_upper
        return -np.asarray(of_upper[:, None] * upper + of_lower[:, None] * lower)

    def start(self) -> Floats:
        """Return a start: no weights, and the cut points of the observed shares of levels."""
        level = np.abs(self.grade)
        shares = np.array([self.times @ (level <= each) for each in self.levels]) / self.times.sum()
        return np.append(np.zeros(self.design.shape[1]), logit((1 + np.minimum(shares, _LARGEST_SHARE)) / 2))


def no_grades(strength: Floats | None) -> str:
    """Return why answers are not graded, or an empty string.

    Parameters
    ----------
    strength : (n,) ndarray of float or None
        Signed, NaN where it is not known.
    """
    if strength is None or np.isnan(strength).all() or not (np.abs(strength) > 0).any():
        return "its answers have no strength: they are not graded"
    missing = int(np.isnan(strength).sum())
    if missing:
        which = f"{pluralise(missing, 'answer')} of {len(strength):,} for a side"
        return f"{which} {'has' if missing == 1 else 'have'} no strength"
    if len(np.unique(np.abs(strength[strength != 0]))) == 1:
        return "all answers for a side have the same strength: they are not graded"
    return ""


def grades(strength: Floats) -> Ints:
    """Return strengths, (n,), as signed places among those that were given: the smallest above 0 is 1, without holes."""
    given = np.unique(np.abs(strength[strength != 0]))
    place = np.searchsorted(given, np.abs(strength)) + 1
    return np.asarray(np.sign(strength) * place, dtype=np.intp)


def fit_ordinal(model: OrdinalModel) -> Floats:
    """Return the point (w, t) at which the log-likelihood is highest.

    Columns of the design are independent of each other. Where votes follow a column without exception its weight is only large.
    """
    scale = np.sqrt((model.design**2).mean(axis=0))
    scale[scale == 0] = 1.0
    scaled = replace(model, design=model.design / scale)
    start = scaled.start()
    ridge = _RIDGE * model.times.sum() * np.eye(len(start))

    def step(_: Floats, here: OrdinalPlace) -> tuple[Floats, float]:
        gradient = scaled.gradient(here.terms)
        whole = np.linalg.solve(scaled.information(here.terms) + ridge, gradient)
        return whole, float(gradient @ whole)

    point = maximise_newton(scaled.at, start, step, _RULE).point
    return np.asarray(point / np.append(scale, np.ones(len(start) - len(scale))))


def is_separated(model: OrdinalModel, point: Floats) -> bool:
    """Return whether answers follow a column of the design without exception, so that its weight grows without end.

    Columns of the design are of size 1 or so.
    """
    information = model.information(model.at(point).terms)
    ridge = _RIDGE * np.trace(information) * np.eye(len(point))
    return bool(np.sqrt(np.abs(np.diag(np.linalg.inv(information + ridge)))).max() > MAX_ERROR)
