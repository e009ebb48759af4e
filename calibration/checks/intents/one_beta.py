"""Do the tick rates of a collection come from one Beta distribution?

The statistic is that of Anderson and Darling for the mid-probabilities of the votes under the beta-binomial at the fitted mean rate and
concentration, which are fitted to each of `STUDIES` simulated collections anew. Nothing is tested where a and b were not fitted.
"""

import numpy as np

from calibration.checks.finding import REJECTED, Finding
from calibration.inference.goodness import anderson_darling
from calibration.models.intents import (
    MIN_INTENTS,
    IntentBallots,
    IntentFit,
    beta_posteriors,
    mid_probabilities,
)

STUDIES = 299


def check_one_beta(fit: IntentFit, data: IntentBallots) -> Finding | None:
    """Test whether the rates of the collection are from one Beta law.

    The law of the statistic comes from simulated votes.
    """
    if len(fit.votes) < MIN_INTENTS:
        return None
    rng = np.random.default_rng(1)
    a, b = data.prior.typical
    distance = anderson_darling(mid_probabilities(fit.votes, fit.voters, a, b))
    asked = fit.voters.astype(np.int64)
    studies = [rng.binomial(asked, rng.beta(a, b, len(asked))).astype(np.float64) for _ in range(STUDIES)]
    beyond = sum(
        anderson_darling(mid_probabilities(votes, fit.voters, *prior.typical)) >= distance
        for votes, prior in zip(studies, beta_posteriors(studies, fit.voters), strict=True)
    )
    p_value = (1 + beyond) / (1 + STUDIES)
    verdict = (
        "some kinds of intents are ticked unlike the others"
        if p_value < REJECTED
        else "one Beta describes them"
    )
    return Finding(
        name="rates_from_one_beta",
        p_value=p_value,
        sentence=f"Tick rates of {len(fit.votes)} intents against one Beta distribution: p = {p_value:.2f} by "
        f"{STUDIES} simulated collections: {verdict}.",
    )
