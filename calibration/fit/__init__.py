"""Every parameter of the user model that a folder of tables allows.

In come tables and what a researcher chose (`families`); out go a user model with its fits (`study.fit_user_model`), drawings
and what else is kept beside the model for the report (`kept`). `families` has a line for each family of
parameters. It may use every room of `calibration` but `plan` and `simulate`.
"""

from typing import TYPE_CHECKING

from metrics.lazy_names import lazily

__all__ = [
    "FitOptions",
    "UserModelFit",
    "fit_user_model",
]

if TYPE_CHECKING:
    from calibration.fit.families import FitOptions
    from calibration.fit.user_model_fit import UserModelFit, fit_user_model
else:
    __getattr__, __dir__ = lazily(__name__, __all__, ".families", ".user_model_fit")
