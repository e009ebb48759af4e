"""How one simulated person reads two sides and says which is better."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from study_app.simulate.events import PageLog
from study_app.simulate.people import mind
from study_app.simulate.people.mind import Look
from study_app.simulate.site import Element, Page, text_of
from study_app.simulate.truth import Truth
from study_app.simulate.worlds.world import World

CHOICES = ("left", "right", "equally_good", "equally_bad")


class Judge:
    """A person in front of pairs.

    Parameters
    ----------
    world : callable
        Page -> what can be known of its task.
    truth : Truth
        What the people are like.
    words_per_second : float
        This person's reading speed.
    careless : bool
        Whether they click without reading.
    rng : numpy.random.Generator
        This person's randomness.
    """

    def __init__(
        self,
        *,
        world: Callable[[Page], World],
        truth: Truth,
        words_per_second: float,
        careless: bool,
        rng: np.random.Generator,
    ) -> None:
        self._world, self._truth, self._rng = world, truth, rng
        self._speed, self._careless = words_per_second, careless
        self._wanted: dict[str, str] = {}
        self._remembered: dict[frozenset[Any], Any] = {}

    def judge(self, page: Page, log: PageLog) -> str:
        """Look at a pair, noting in ``log`` what a browser would, and return the option that is picked."""
        sides = page.sides()
        if self._careless:
            log.wait(float(self._rng.uniform(1, 4)))
            return str(self._rng.choice(CHOICES))
        for side, elements in sides.items():
            self._read(log, page, side, elements)
        log.wait(float(self._rng.uniform(1.5, 6)))
        return self._preferred(page, sides)

    def _read(self, log: PageLog, page: Page, side: str, elements: tuple[Element, ...]) -> None:
        """Read a side as deep as patience goes where its topic has intents that one may be after, else to its end."""
        world, wanted, depth = self._world(page), "", math.inf
        topic = text_of(page.marked("data-query"))
        if topic in world.chances:
            wanted = self._interest(world, topic)
            depth = float(self._rng.uniform(0, self._truth.patience_stops))
        for look in mind.looks(
            elements, wanted=wanted, depth_chars=depth, words_per_second=self._speed, rng=self._rng
        ):
            _note_look(log, side, look)

    def _interest(self, world: World, query: str) -> str:
        """Return the intent that this person has in a query, drawn once."""
        if query not in self._wanted:
            chances = world.chances[query]
            weights = np.array(list(chances.values()))
            self._wanted[query] = list(chances)[self._rng.choice(len(chances), p=weights / weights.sum())]
        return self._wanted[query]

    def _preferred(self, page: Page, sides: Mapping[str, tuple[Element, ...]]) -> str:
        """Weigh the two sides, or remember how they were weighed before."""
        if self._rng.random() < self._truth.behaviour.left_bias:
            return "left"
        texts = {side: tuple(element.texts for element in elements) for side, elements in sides.items()}
        both = frozenset(texts.values())
        if both in self._remembered and self._rng.random() < mind.MEMORY:
            before = self._remembered[both]
            return next((side for side, text in texts.items() if text == before), str(before))
        world, topic = self._world(page), text_of(page.marked("data-query"))
        left, right = (world.score(topic, sides[side]) for side in ("left", "right"))
        chosen = mind.choice(
            self._rng, difference=left - right, total=left + right, slope=world.slope, middle=world.middle
        )
        self._remembered[both] = texts.get(chosen, chosen)
        return chosen


def _note_look(log: PageLog, side: str, look: Look) -> None:
    last = look.items[-1:] if look.last_seconds else ()
    for items, seconds in (
        (look.items[: len(look.items) - len(last)], look.seconds - look.last_seconds),
        (last, look.last_seconds),
    ):
        for key, share in items:
            log.note("see", side=side, item=key, share=share)
        log.wait(seconds)
        for key, _ in items:
            log.note("see", side=side, item=key, share=0)
    if look.opens is not None:
        log.note("layer", side=side, item=look.opens, open=True)
