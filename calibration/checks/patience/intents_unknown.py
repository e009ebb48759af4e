"""Where does P(i|q) come from, if the collection has none?"""

from calibration.checks.finding import Finding
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries


def check_voted_intents(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Report the number of topics with P(i|q) from votes."""
    if not pairs.voted:
        return None
    return Finding(
        name="voted_intents",
        sentence=f"P(i|q) of {pairs.voted} of {len(pairs.topics)} topics is the one from votes.",
    )


def check_uniform_intents(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Report the number of topics without P(i|q)."""
    if not pairs.uniform:
        return None
    return Finding(
        name="uniform_intents",
        severity="warning",
        sentence=f"{pairs.uniform} of {len(pairs.topics)} topics have no P(i|q): all their intents count the same.",
    )
