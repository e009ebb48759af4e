"""What to know before using a lateness decay: edges, few answers, nuggets and workers that differ."""

from collections.abc import Iterator

from calibration.inference.goodness import REJECTED
from calibration.inference.results import info, warning
from calibration.inference.wording import shown_p
from calibration.lateness.likelihood import LatenessCounts
from calibration.lateness.nuggets import nugget_test
from calibration.lateness.shape import shape_test
from calibration.user_model.model import Diagnostic

FEW_WORKERS = 20
FEW_NUGGETS = 10
FEW_LATE_ANSWERS = 5
HETEROGENEITY_Z = 2.5
"""Standard errors by which the design effect of L must exceed 1 to be called a sign of workers who differ."""
NUGGETS_DIFFER = 0.03
"""A p-value below it is taken as a sign of nuggets that differ; the test is cautious, chance brings about 2 %."""
UNPAIRED_SHARE = 0.2


def notes_on_fit(
    decay: float, p0: float, counts: LatenessCounts, ratio: tuple[float, float] | None
) -> Iterator[Diagnostic]:
    """Yield what to know before using the estimates."""
    yield from _edge_notes(decay, p0, counts)
    yield from _sample_notes(counts)
    if ratio is not None and ratio[0] > 1 + HETEROGENEITY_Z * ratio[1]:
        yield warning(
            "workers_decay_differently",
            f"Workers differ in how lateness matters to them (design effect {ratio[0]:.1f}); the decay of the average "
            "is then not geometric, and L is the geometric decay closest to it, not the mean of the workers' own.",
        )
    yield from _nugget_notes(counts)
    test = shape_test(decay, p0, counts)
    if test is not None and test.p_value < REJECTED:
        yield warning("not_geometric", test.sentence)


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
    late = counts.asked[:, 1:].sum(axis=1)
    unpaired = late[counts.asked[:, 0] == 0].sum() / late.sum()
    if unpaired > UNPAIRED_SHARE:
        yield warning(
            "different_workers",
            f"{unpaired:.0%} of the answers on late updates are by workers who were never asked about one in time: "
            "differences between workers may look like lateness.",
        )


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
