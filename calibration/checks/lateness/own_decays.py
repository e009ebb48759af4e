"""Do workers differ in how lateness matters to them?"""

from calibration.checks.finding import REJECTED, Finding
from calibration.checks.lateness.crowd import NOT_GEOMETRIC, crowd_with, edge_ratio, is_inside, mean_decay
from calibration.inference.formatting import format_p
from calibration.models.lateness.answers import LatenessCounts
from calibration.models.lateness.fit import LatenessFit
from calibration.user_model.model import LATENESS, OtherLaw


def check_own_decays(fit: LatenessFit, counts: LatenessCounts) -> Finding | None:
    """Compare decays that differ between workers with one of all."""
    if not is_inside(counts):
        return None
    top = crowd_with("own decay", counts)
    ratio, p_value = edge_ratio(top, counts)
    if p_value >= REJECTED:
        return None
    mean = mean_decay(top.point)
    return Finding(
        name="workers_decay_differently",
        p_value=p_value,
        explains=NOT_GEOMETRIC,
        gain=ratio / 2,
        sentence=f"Workers differ in how lateness matters to them ({format_p(p_value)}): the decay of the average is then not geometric, and L "
        f"({fit.estimates[0]:.2f}) is the geometric decay closest to it, not the mean of the workers' own, which is about {mean:.2f}.",
        sensitivity={LATENESS: (OtherLaw(law="own decays", estimate=mean, explains="better"),)},
    )
