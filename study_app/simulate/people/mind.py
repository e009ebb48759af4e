"""How a simulated person decides, votes and reads: pure, with the randomness as an argument.

Preferences follow Davidson's model on the difference of M-measure at the person's patience; reading stops after a
depth drawn evenly from 0 to that patience, so that the share of people still reading at x characters is the decay
1 - x/L itself; an intent is ticked with a chance proportional to its probability.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.summaries.trailtext import counted_chars
from study_app.simulate.site import Element

MEAN_TICKS = 2.0
MOST_LIKELY_TICK = 0.95
WORDS_ON_SCREEN = 45
READING_NOISE_SD = 0.3
TIE_WEIGHT = 0.6
PREFERENCE_SLOPE = 3.0
"""Log odds for a pair whose M differs by one standard deviation over all pairs of the study."""
MEMORY = 0.75
"""Chance that a person who meets a pair again answers as before without weighing it anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What is on screen at once: (key, share shown) of each item, and for how long.

    ``opens`` is the key of a link that is opened after the look, None when none is. ``last_seconds`` are those of the seconds in which
    the last item alone is on screen: where a reader stops in the middle of it.
    """

    items: tuple[tuple[str, float], ...]
    seconds: float
    opens: str | None = None
    last_seconds: float = 0.0


def tick_chances(probabilities: Mapping[str, float]) -> dict[str, float]:
    """Return the chance that each intent is ticked: proportional to P(i|q), about two ticks a person."""
    breadth = min(MEAN_TICKS, MOST_LIKELY_TICK / max(probabilities.values()))
    return {intent: breadth * p for intent, p in probabilities.items()}


def choice(rng: np.random.Generator, *, difference: float, total: float, slope: float, middle: float) -> str:
    """Draw one of the four options for M(left) - M(right) = ``difference``.

    P(left) : P(right) : P(equal) = e^(slope d/2) : e^(-slope d/2) : `TIE_WEIGHT`; an equal pair is called good when
    M(left) + M(right) = ``total`` lies above ``middle``.
    """
    half = slope * difference / 2
    weights = np.exp([half, -half, np.log(TIE_WEIGHT)] - np.max([half, -half]))
    option = rng.choice(3, p=weights / weights.sum())
    return ("left", "right", "equally_good" if total > middle else "equally_bad")[option]


def looks(
    elements: Sequence[Element],
    *,
    wanted: str,
    depth_chars: float,
    words_per_second: float,
    rng: np.random.Generator,
) -> Iterator[Look]:
    """Read a summary in trailtext order down to ``depth_chars`` counted characters, screen by screen.

    Parameters
    ----------
    elements : sequence of Element
        The first layer; the link whose text is ``wanted`` is opened when it is reached, the others are passed.
    words_per_second : float
        Reading speed; each screen is off it by a log-normal factor.
    """
    screen: list[tuple[str, float]] = []
    words = 0.0
    left = depth_chars
    for element, opens in _trail(elements, wanted):
        chars = counted_chars(element.text)
        share = 1.0 if chars == 0 else min(1.0, max(0.0, left / chars))
        if share == 0:
            break
        left -= chars
        screen.append((element.key, round(share, 4)))
        own = share * max(1, len(element.text.split()))
        words += own
        if words >= WORDS_ON_SCREEN or (opens and share == 1) or share < 1:
            look = _look(screen, words, words_per_second, rng, element.key if opens and share == 1 else None)
            if share < 1:
                yield replace(look, last_seconds=look.seconds * own / words)
                return
            yield look
            screen, words = [], 0.0
    if screen:
        yield _look(screen, words, words_per_second, rng, None)


def _trail(elements: Sequence[Element], wanted: str) -> Iterator[tuple[Element, bool]]:
    """Elements in the order of reading, and whether each is a link to open."""
    for element in elements:
        opens = element.second is not None and element.text == wanted
        yield element, opens
        if opens and element.second is not None:
            for item in element.second:
                yield item, False


def _look(
    screen: list[tuple[str, float]], words: float, speed: float, rng: np.random.Generator, opens: str | None
) -> Look:
    seconds = words / speed * float(np.exp(rng.normal(0.0, READING_NOISE_SD)))
    return Look(items=tuple(screen), seconds=seconds, opens=opens)
