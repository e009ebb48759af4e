"""The names of `calibration.inference.choice` that the fits of patience use."""

from calibration.inference.choice import (
    LARGEST_SCALED_SLOPE,
    DavidsonFit,
    Votes,
    choice_probabilities,
    choice_shares,
    fit_davidson,
    log_likelihood,
)

__all__ = [
    "LARGEST_SCALED_SLOPE",
    "DavidsonFit",
    "Votes",
    "choice_probabilities",
    "choice_shares",
    "fit_davidson",
    "log_likelihood",
]
