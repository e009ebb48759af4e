"""Where does P(i|q) come from, if the collection has none?"""

from calibration.checks.finding import Finding, note_if, warn_if
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries


def check_voted_intents(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Report the number of topics with P(i|q) from votes."""
    sentence = f"P(i|q) of {pairs.voted} of {len(pairs.topics)} topics is the one from votes."
    return note_if(pairs.voted, "voted_intents", sentence)


def check_uniform_intents(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Report the number of topics without P(i|q)."""
    sentence = (
        f"{pairs.uniform} of {len(pairs.topics)} topics have no P(i|q): all their intents count the same."
    )
    return warn_if(pairs.uniform, "uniform_intents", sentence)
