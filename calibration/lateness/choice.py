"""Which curve stands for the answers: a plain decay, one to a floor, or that of the workers who answer in earnest.

The plain one stands unless another law explains the answers decisively better (`calibration.lateness.laws`). Where workers decay differently it
stands too, with a warning: it is the geometric curve closest to that of all.
"""

from dataclasses import dataclass, replace

from calibration.lateness.floor import (
    FlooredDecay,
    FloorsLeftOpen,
    fit_floor,
    floor_design_effect,
    floors_left_open,
)
from calibration.lateness.laws import BetterLaw, better_law
from calibration.lateness.likelihood import LatenessCounts, maximum

DECISIVE = 0.02
"""A p-value below it makes another law the better one."""
_LEAST, _MOST = 1e-3, 1 - 1e-3
"""A decay to a floor outside of these is a step, or no decay."""
_FEWEST_IN_EARNEST = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCurve:
    """What stands for the answers.

    Attributes
    ----------
    decay, p0 : float
        L and p0.
    floor : float or None
        f, where the decay is to one.
    counts : LatenessCounts
        What they were fitted to: each worker's answers count as often as the worker is in earnest.
    plain : (float, float)
        L and p0 without a floor, of all workers.
    found : BetterLaw or None
        The law that explains better than the plain one; None where none does.
    curve : FlooredDecay or None
        The best decay to a floor, where that is a curve of its own.
    floors : FloorsLeftOpen or None
        Floors that the answers leave open, where none was found and there are levels enough to tell.
    is_in_earnest : bool
        The curve is that of the workers in earnest.
    """

    decay: float
    p0: float
    floor: float | None = None
    counts: LatenessCounts
    plain: tuple[float, float]
    found: BetterLaw | None = None
    curve: FlooredDecay | None = None
    floors: FloorsLeftOpen | None = None
    is_in_earnest: bool = False

    @property
    def estimates(self) -> list[float]:
        """L, p0 and, where there is one, f."""
        return [self.decay, self.p0, *([] if self.floor is None else [self.floor])]


def chosen_curve(counts: LatenessCounts) -> ChosenCurve:
    """Choose the curve."""
    plain = maximum(counts.level, counts.total_asked, counts.total_useful)
    decay, p0 = plain
    choice = ChosenCurve(decay=decay, p0=p0, counts=counts, plain=plain)
    if counts.workers < 2 or not 0 < decay < 1 or p0 == 1:
        return choice
    curve = fit_floor(counts)
    is_curve = min(curve.decay, curve.p0, curve.floor) > _LEAST and max(curve.decay, curve.p0) < _MOST
    effect = floor_design_effect(curve, counts)
    found = better_law(decay, p0, counts, floor_effect=effect)
    choice = replace(choice, curve=curve if is_curve else None)
    if found.p_value >= DECISIVE:
        enough = len(counts.level) > 2
        return replace(choice, floors=floors_left_open(curve, effect, counts) if enough else None)
    choice = replace(choice, found=found)
    if found.law == "floor" and is_curve:
        return replace(choice, decay=curve.decay, p0=curve.p0, floor=curve.floor)
    return _in_earnest(choice, found) if found.law == "careless" else choice


def _in_earnest(choice: ChosenCurve, found: BetterLaw) -> ChosenCurve:
    """Return the curve of the workers in earnest, where there are enough of them."""
    in_earnest = 1 - found.careless.posterior
    if in_earnest.sum() < _FEWEST_IN_EARNEST:
        return choice
    counts = choice.counts.weighted(in_earnest)
    decay, p0 = maximum(counts.level, counts.total_asked, counts.total_useful)
    return replace(choice, decay=decay, p0=p0, counts=counts, is_in_earnest=True)
