"""Do some people answer alike, however late the update is?

Such answers look as if they did not read the question.
"""

from calibration.checks.finding import Finding, explains_at, other_laws
from calibration.checks.lateness.crowd import NOT_GEOMETRIC, crowd_with_careless, edge_ratio, is_inside
from calibration.inference.formatting import format_p
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.error import decay_uncertainty
from calibration.models.lateness.fit import LatenessFit
from calibration.models.lateness.likelihood import maximum
from calibration.user_model.model import LATENESS, USE_IN_TIME

MIN_OTHERS = 5.0
"""Smallest number of other people to fit a decay."""


def check_careless_answers(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Compare a class of people who ignore lateness with a uniform crowd."""
    if not is_inside(counts):
        return None
    top, people = crowd_with_careless(counts)
    ratio, p_value = edge_ratio(top, counts)
    others = counts.weighted(1 - people.posterior)
    number = people.share * counts.workers
    if (1 - people.posterior).sum() < MIN_OTHERS or number < 0.5:
        return None
    decay, p0 = maximum(others.level, others.total_asked, others.total_useful)
    laws = other_laws(
        "without alike answers",
        explains_at(p_value),
        {LATENESS: decay, USE_IN_TIME: p0},
        decay_uncertainty(decay, p0, others).intervals(0.95),
    )
    with_all, p0_with_all = fit.estimates.tolist()
    return Finding(
        name="alike_answers",
        p_value=p_value,
        explains=NOT_GEOMETRIC,
        gain=ratio / 2,
        sentence=f"About {number:.0f} of {counts.workers} workers answer alike however late the update is ({format_p(p_value)}); without them "
        f"L is {decay:.2f} and p0 {p0:.2f}, with all {with_all:.2f} and {p0_with_all:.2f}.",
        sensitivity=laws,
    )
