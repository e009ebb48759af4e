"""Parameters of user models, fitted to tidy tables from logs, with intervals.

This package may import `metrics`, never `study_app`.
"""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "AgreementDesign",
    "AgreementTables",
    "AwayDesign",
    "CalibrationResult",
    "DifferenceDesign",
    "FitOptions",
    "NotIdentifiedError",
    "PatienceDesign",
    "Plan",
    "PrecisionGoal",
    "RankDesign",
    "Ranking",
    "SilenceDesign",
    "SimulatedJudges",
    "SimulatedStudy",
    "UserModel",
    "UserModelFit",
    "draw_model",
    "join_tables",
    "push_model",
    "ranked_model",
    "read_scores",
    "read_tables",
    "read_user_model",
    "simulate_preferences",
    "stream_model",
    "summary_model",
    "write_agreement",
    "write_ranking",
    "write_tables",
    "write_user_model",
]

if TYPE_CHECKING:
    from calibration.agree import AgreementTables, read_scores, write_agreement
    from calibration.fit import FitOptions, UserModelFit
    from calibration.inference.results import CalibrationResult, NotIdentifiedError
    from calibration.join import join_tables
    from calibration.models.patience.simulate import SimulatedJudges, simulate_preferences
    from calibration.plan import (
        AgreementDesign,
        AwayDesign,
        DifferenceDesign,
        PatienceDesign,
        Plan,
        PrecisionGoal,
        RankDesign,
        SilenceDesign,
    )
    from calibration.rank import Ranking, write_ranking
    from calibration.simulate import SimulatedStudy
    from calibration.tables import read_tables, write_tables
    from calibration.user_model import (
        UserModel,
        draw_model,
        push_model,
        ranked_model,
        read_user_model,
        stream_model,
        summary_model,
        write_user_model,
    )
else:
    __getattr__, __dir__ = lazily(
        __name__,
        __all__,
        ".tables",
        ".join",
        ".user_model",
        ".inference.results",
        ".fit",
        ".agree",
        ".rank",
        ".plan",
        ".models.patience.simulate",
        ".simulate",
    )
