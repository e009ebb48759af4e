"""Where does P(i|q) come from, if the collection has none?"""

from calibration.checks.finding import Finding
from calibration.inference.results import CalibrationResult
from calibration.models.patience.pairs import JudgedSummaries


def check_voted_intents(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Say of how many topics P(i|q) is from votes."""
    if not pairs.voted:
        return None
    return Finding(
        name="voted_intents",
        sentence=f"P(i|q) of {pairs.voted} of {len(pairs.topics)} topics is the one from votes.",
    )


def check_uniform_intents(fit: CalibrationResult, pairs: JudgedSummaries) -> Finding | None:
    """Say how many topics have no P(i|q)."""
    if not pairs.uniform:
        return None
    return Finding(
        name="uniform_intents",
        severity="warning",
        sentence=f"{pairs.uniform} of {len(pairs.topics)} topics have no P(i|q): all their intents count the same.",
    )
