"""Every parameter that the tables of a study allow."""

from typing import TYPE_CHECKING

from metrics.exports import lazily

__all__ = [
    "FitOptions",
    "UserModelFit",
    "fit_user_model",
]

if TYPE_CHECKING:
    from calibration.fit.options import FitOptions
    from calibration.fit.study import UserModelFit, fit_user_model
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".options", ".study")
