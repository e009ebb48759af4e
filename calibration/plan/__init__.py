"""Planning of studies by simulation."""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "AgreementDesign",
    "AwayDesign",
    "DifferenceDesign",
    "PatienceDesign",
    "Plan",
    "PrecisionGoal",
    "RankDesign",
    "SilenceDesign",
    "plan",
]

if TYPE_CHECKING:
    from calibration.plan.agreement import AgreementDesign, DifferenceDesign
    from calibration.plan.patience import PatienceDesign
    from calibration.plan.ranking import RankDesign
    from calibration.plan.search import Plan, PrecisionGoal, plan
    from calibration.plan.streams import AwayDesign, SilenceDesign
else:
    __getattr__, __dir__ = lazily(
        __name__, __all__, ".search", ".agreement", ".streams", ".patience", ".ranking"
    )
