"""Every parameter of the user model that a folder of tables allows.

In come tables and what a researcher chose (`material`); out go a user model with its fits (`study.fit_user_model`), drawings
(`plots`), and what is kept beside the model for the report (`kept`). `families` has a line for each family of
parameters. It may use every room of `calibration` but `plan` and `simulate`.
"""

from typing import TYPE_CHECKING

from metrics.exports import lazily

__all__ = [
    "FitOptions",
    "UserModelFit",
    "fit_user_model",
]

if TYPE_CHECKING:
    from calibration.fit.material import FitOptions
    from calibration.fit.study import UserModelFit, fit_user_model
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".material", ".study")
