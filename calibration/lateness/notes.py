"""What to know before using a lateness decay: edges, few answers, nuggets and workers that differ."""

from collections.abc import Iterator

import numpy as np
from scipy.special import ndtri

from calibration.inference.goodness import REJECTED
from calibration.inference.results import LEVEL, info, warning
from calibration.inference.wording import shown_p
from calibration.lateness.choice import ChosenCurve
from calibration.lateness.floor import FloorsLeftOpen
from calibration.lateness.laws import BetterLaw, Law
from calibration.lateness.likelihood import LatenessCounts, maximum
from calibration.lateness.nuggets import nugget_test
from calibration.lateness.shape import shape_test
from calibration.user_model.model import Diagnostic

FEW_WORKERS = 20
FEW_NUGGETS = 10
FEW_LATE_ANSWERS = 5
NUGGETS_DIFFER = 0.03
"""A p-value below it is taken as a sign of nuggets that differ; the test is cautious, chance brings about 2 %."""
UNPAIRED_SHARE = 0.2


def notes_on_fit(choice: ChosenCurve, counts: LatenessCounts) -> Iterator[Diagnostic]:
    """Yield what to know before using the curve that was chosen for ``counts``."""
    yield from _edge_notes(choice.decay, choice.p0, choice.counts)
    yield from _sample_notes(counts)
    yield from _nugget_notes(counts)
    yield from _law_notes(choice)
    test = shape_test(choice.decay, choice.p0, choice.counts, choice.floor)
    explained = choice.found is not None and choice.found.law == "own decay"
    if test is not None and test.p_value < REJECTED and not explained:
        yield warning("not_geometric", test.sentence)
    if choice.floors is not None:
        yield _floors_note(choice.decay, choice.floors)


def _law_notes(choice: ChosenCurve) -> Iterator[Diagnostic]:
    found = choice.found
    if found is None:
        return
    if choice.floor is not None or (choice.curve is not None and found.nearly("floor")):
        yield warning("lateness_floor", _floor_sentence(choice, found))
    if found.law == "careless" or found.nearly("careless"):
        yield warning("careless_workers", _careless_sentence(choice, found))
    if found.law == "own decay" or found.nearly("own decay"):
        yield warning("workers_decay_differently", _own_decay_sentence(found))


def _evidence(found: BetterLaw, law: Law) -> str:
    if law == found.law:
        return f"likelihood ratio {found.ratios[law]:.1f}, {shown_p(found.p_value)}"
    return f"nearly as well: likelihood ratio {found.ratios[law]:.1f} against {found.ratios[found.law]:.1f}"


def _floor_sentence(choice: ChosenCurve, found: BetterLaw) -> str:
    curve, (decay, p0) = choice.curve, choice.plain
    if curve is None:
        return ""
    evidence = f"A decay to a floor explains the answers better than one to 0 ({_evidence(found, 'floor')}): "
    if choice.floor is None:
        return f"{evidence}some updates may keep their use however late they come, with a floor of {curve.floor:.2f} and L {curve.decay:.2f}."
    return (
        f"{evidence}some updates keep their use however late they come. lateness_decay, lateness_p0 and lateness_floor belong together "
        f"as p0 (floor + (1 - floor) L^lateness): use all three. Without a floor L would be {decay:.2f} and p0 {p0:.2f}."
    )


def _careless_sentence(choice: ChosenCurve, found: BetterLaw) -> str:
    workers = len(found.careless.posterior)
    counts = (
        choice.counts if found.law == "careless" else choice.counts.weighted(1 - found.careless.posterior)
    )
    decay, p0 = maximum(counts.level, counts.total_asked, counts.total_useful)
    with_all, p0_with_all = choice.plain
    apart, together = ("", ", which the model holds")[:: -1 if choice.is_in_earnest else 1]
    return (
        f"About {found.careless.share * workers:.0f} of {workers} workers answer alike however late the update is, as if they did not look "
        f"({_evidence(found, 'careless')}). The others have L {decay:.2f} and p0 {p0:.2f}{apart}; all of them together L {with_all:.2f} and p0 "
        f"{p0_with_all:.2f}{together}. Look at what else these workers answered before you exclude anybody."
    )


def _own_decay_sentence(found: BetterLaw) -> str:
    return (
        f"Workers differ in how lateness matters to them ({_evidence(found, 'own decay')}); the decay of the average is then not "
        f"geometric, and L is the geometric decay closest to it, not the mean of the workers' own, which is about {found.mean_decay:.2f}."
    )


def _floors_note(decay: float, floors: FloorsLeftOpen) -> Diagnostic:
    reach = float(ndtri((1 + LEVEL) / 2))
    floor = floors.largest_floor(reach)
    if floor == 0:
        return info("floor_left_open", "The answers leave no room for a floor under which use does not fall.")
    with_it = float(np.exp(np.interp(floor, floors.floor, floors.log_decay)))
    return info(
        "floor_left_open",
        f"Whether some updates keep their use however late they come cannot be told: a floor of up to {floor:.2f} agrees with the "
        f"answers, and with that one L would be {with_it:.2f} instead of {decay:.2f}. The lower end of the interval allows for it; to know more, ask "
        "about later updates, or more of them.",
    )


def _edge_notes(decay: float, p0: float, counts: LatenessCounts) -> Iterator[Diagnostic]:
    late = counts.total_useful[1:].sum()
    if decay == 0:
        yield warning(
            "decay_at_zero",
            f"None of {counts.total_asked[1:].sum():.0f} late updates was of use: L is 0 and its interval is a "
            "one-sided bound.",
        )
    elif late < FEW_LATE_ANSWERS:
        yield warning("few_late_yeses", f"Only {late:.0f} late updates were of use: L rests on these alone.")
    if decay == 1:
        yield warning(
            "decay_at_one",
            "Late updates were of use at least as often as those in time: L is 1 and its interval is a one-sided bound.",
        )
    if p0 == 1:
        yield info(
            "certain_in_time",
            "Every update in time was of use: p0 is 1 and its interval is a one-sided bound.",
        )


def _sample_notes(counts: LatenessCounts) -> Iterator[Diagnostic]:
    if counts.workers < 2:
        yield warning(
            "one_worker",
            "With a single worker nothing is known about differences between workers: there is no interval.",
        )
    elif counts.workers < FEW_WORKERS:
        yield warning("few_workers", f"{counts.workers} workers are few to tell how much workers differ.")
    if len(counts.level) < 3:
        yield warning(
            "one_late_level",
            f"All late updates were late by the same number of visits ({counts.level[1]:.0f}): that the decay is geometric cannot be tested.",
        )
    unpaired, by_chance = _unpaired(counts)
    if unpaired > by_chance + UNPAIRED_SHARE:
        yield warning(
            "different_workers",
            f"{unpaired:.0%} of the answers on late updates are by workers who were never asked about one in time: "
            "differences between workers may look like lateness.",
        )


def _unpaired(counts: LatenessCounts) -> tuple[float, float]:
    """Return the share of late answers by workers never asked about an update in time, and what chance alone would make of it.

    Of a worker with one answer nobody can know whether chance or the design chose its lateness, so these count as the design's.
    """
    asked = counts.asked.sum(axis=1)
    late = asked - counts.asked[:, 0]
    share_late = late.sum() / asked.sum()
    by_chance = (asked * share_late**asked)[asked > 1].sum()
    return float(late[counts.asked[:, 0] == 0].sum() / late.sum()), float(by_chance / late.sum())


def _nugget_notes(counts: LatenessCounts) -> Iterator[Diagnostic]:
    by_nugget = counts.by_nugget
    if by_nugget is None or counts.workers < 2:
        return
    nuggets = by_nugget.workers
    if nuggets < 2:
        yield warning(
            "one_nugget",
            "All answers are on a single nugget: nothing is known about differences between nuggets, and the interval is of this one.",
        )
    elif nuggets < FEW_NUGGETS:
        yield warning("few_nuggets", f"{nuggets} nuggets are few to tell how much nuggets differ.")
    test = nugget_test(counts)
    if test is not None and test.p_value < NUGGETS_DIFFER:
        yield warning(
            "nuggets_differ",
            f"Some nuggets are of use more often than others, whoever is asked and however late ({shown_p(test.p_value)}): the "
            f"intervals allow for {test.nuggets} nuggets drawn from many; they are of the shares of all of these, and L "
            "within a single nugget may be smaller. Ask about more nuggets.",
        )
