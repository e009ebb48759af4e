"""How well a fit found the parameters of a crowd again."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.user_model.model import UserModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """One parameter, true and fitted.

    Attributes
    ----------
    topic : str or None
        For an intent's probability, its topic; ``name`` is the intent then.
    estimate : float or None
        None: infinite.
    low, high : float or None
        The 95 % interval; None: that end is open.
    """

    name: str
    topic: str | None = None
    truth: float
    estimate: float | None
    low: float | None
    high: float | None

    @property
    def holds(self) -> bool:
        """Whether the interval holds the truth."""
        above = self.low is None or self.low <= self.truth
        return above and (self.high is None or self.truth <= self.high)


def recovery_rows(fitted: UserModel, truth: UserModel) -> list[Recovery]:
    """Return every parameter that both have, the probabilities of intents last."""
    rows = [
        Recovery(
            name=name,
            truth=true.estimate,
            estimate=entry.estimate,
            low=entry.interval[0],
            high=entry.interval[1],
        )
        for name, entry in fitted.parameters.items()
        if (true := truth.parameters.get(name)) is not None and true.estimate is not None
    ]
    for topic, intents in fitted.intents.items():
        for intent, found in intents.items():
            known = truth.intents.get(topic, {}).get(intent)
            if known is not None:
                rows.append(
                    Recovery(
                        name=intent,
                        topic=topic,
                        truth=known.estimate,
                        estimate=found.estimate,
                        low=found.interval[0],
                        high=found.interval[1],
                    )
                )
    return rows


def recovery_sentence(rows: Sequence[Recovery]) -> str:
    """Say how many of the intents' intervals hold the truth, and how far off the estimates are."""
    intents = [row for row in rows if row.topic is not None]
    if not intents:
        return "No intent probabilities were fitted."
    held = sum(row.holds for row in intents)
    off = sum(abs((row.estimate or 0.0) - row.truth) for row in intents) / len(intents)
    return f"P(intent | query): {held} of {len(intents)} intervals hold the truth; mean absolute error {off:.3f}."
