"""Do topics have too few voters, or intents that nobody ticked?"""

from calibration.checks.finding import Finding, warn_if
from calibration.models.intents import IntentBallots, IntentFit

FEW_VOTERS = 5


def check_voters(fit: IntentFit, data: IntentBallots) -> Finding | None:
    """Report the number of topics with few voters."""
    voters = data.counts.groupby("topic")["voters"].first()
    few = int((voters < FEW_VOTERS).sum())
    sentence = f"{few} of {len(voters)} topics have fewer than {FEW_VOTERS} voters."
    return warn_if(few, "few_voters", sentence)


def check_ticks(fit: IntentFit, data: IntentBallots) -> Finding | None:
    """Report the number of topics without any tick."""
    silent = int((data.counts.groupby("topic")["votes"].sum() == 0).sum())
    sentence = f"Nobody ticked any intent of {silent} topics: theirs are nearly uniform."
    return warn_if(silent, "no_ticks", sentence)
