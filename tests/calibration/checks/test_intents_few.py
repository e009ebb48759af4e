"""Facts about votes that are said beside probabilities of intents."""

import numpy as np

from calibration.checks.registry import run_checks
from calibration.models.intents import IntentBallots, fit_intents
from tests.calibration.models.test_intents import ballots, offered


def found(*rows: tuple[str, str, str | None], **topics: str) -> dict[str, str]:
    """Return name -> sentence of the warnings of some votes."""
    data = IntentBallots(votes=ballots(*rows), offered=offered(**topics))
    findings = run_checks(fit_intents(data, rng=np.random.default_rng(1)), data)
    return {finding.name: finding.sentence for finding in findings if finding.severity == "warning"}


def test_few_voters_are_said():
    """Below five voters of a topic its probabilities are mostly the prior."""
    assert found(("v", "q", "a"), q="ab")["few_voters"] == "1 of 1 topics have fewer than 5 voters."
    assert "few_voters" not in found(*((f"v{u}", "q", "a") for u in range(5)), q="ab")


def test_topics_without_a_tick_are_said():
    """All their intents are as likely."""
    assert "of 1 topics" in found(("v", "q", "a"), ("x", "r", None), q="ab", r="ab")["no_ticks"]
    assert "no_ticks" not in found(("v", "q", "a"), q="ab")
