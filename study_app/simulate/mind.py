"""Reading, judging, voting and form filling of a simulated person.

The random generator is an argument. Preferences follow Davidson's model on the difference of M-measure at the person's patience; reading
stops after a depth drawn evenly from 0 to that patience, so that the share of people still reading at x characters is the decay 1 - x/L
itself, in a ranked list after a geometric number of entries; an intent is ticked with a chance proportional to its probability.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metrics.summaries.trailtext import counted_chars
from study_app.protocol.sides import LOOK_SECONDS
from study_app.services.worker.answers import HIGHEST
from study_app.simulate.browser import Element, Fields, Page, PageError, PageLog, SideOnPage, text_of
from study_app.simulate.crowd_parameters import CrowdParameters
from study_app.simulate.task_truth import TaskTruth
from study_app.study.entries import Question, QuestionTask, TaskEntry
from study_app.study.pair_answers import option_value
from study_app.study.question_answers import field_of
from study_app.tasks.kinds import check_of

MEAN_TICKS = 2.0
MAX_TICK_CHANCE = 0.95
WORDS_ON_SCREEN = 45
READING_NOISE_SD = 0.3
TIE_WEIGHT = 0.6
SOURCES_OPENED = 0.3
"""Chance that a source of an answer is opened when it is reached."""

MEMORY = 0.75
"""Chance that a person repeats the earlier answer to a repeated pair."""

THRESHOLDS: Mapping[int, Sequence[float]] = {2: (0.5, 1.8), 3: (0.5, 1.5, 2.8)}
"""Log odds of the difference, noise included, from which a side is better by 1, 2, ...; by the most that the scale has."""

GOLD_LOG_ODDS = 5.0
"""Log odds that a careful person sees the better side of a gold pair."""

SEES_TIE = 0.9
"""Chance that a careful person sees that neither side of a gold pair is better."""

GIVES_REASON = 0.5
"""Chance of a reason where it is optional."""

REASONS = ("it says more", "it is easier to read", "it keeps to the question", "I would trust it more")
RATING_NOISE_SD = 0.6
"""Standard deviation of a rating before it is rounded, in steps of the scale."""

WORDS = ("no", "none", "it was fine", "nothing to add")
NUMBERS = (18, 75)
"""Range of a number where the question has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """Items on screen at one time: key and visible share of each, and seconds.

    ``opens`` is the key of a link that is opened after the look, None when none is. ``last_seconds`` are those of the seconds in which
    the last item alone is on screen: where a reader stops in the middle of it, or at the end of the text.
    """

    items: tuple[tuple[str, float], ...]
    seconds: float
    opens: str | None = None
    last_seconds: float = 0.0


def tick_chances(probabilities: Mapping[str, float]) -> dict[str, float]:
    """Return the chance that each intent is ticked: proportional to P(i|q).

    Their sum is about two ticks a person.
    """
    breadth = min(MEAN_TICKS, MAX_TICK_CHANCE / max(probabilities.values()))
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


def graded_choice(rng: np.random.Generator, *, log_odds: float, most: int) -> str:
    """Draw a step of a graded scale, as a page's field has it.

    The difference of the sides in log odds and logistic noise are added; `THRESHOLDS` cut the sum into steps (cumulative link).

    Parameters
    ----------
    log_odds : float
        Slope times the difference of worth, left less right.
    most : int
        The most by which the scale lets a side be better.
    """
    felt = log_odds + float(rng.logistic())
    strength = sum(abs(felt) > threshold for threshold in THRESHOLDS[most])
    return option_value(("left" if felt > 0 else "right") if strength else "equally_good", strength)


def read_screens(
    elements: Sequence[Element],
    *,
    opened: Collection[str],
    depth_chars: float,
    words_per_second: float,
    rng: np.random.Generator,
) -> Iterator[Glance]:
    """Yield the screens of a summary read to ``depth_chars`` in trailtext order.

    Depth is in counted characters.

    Parameters
    ----------
    elements : sequence of Element
        The first layer.
    opened : collection of str
        Keys of the links that are opened when they are reached; the others are passed.
    words_per_second : float
        Reading speed; each screen is off it by a log-normal factor.
    """
    screen: list[tuple[str, float]] = []
    words = own = 0.0
    left = depth_chars
    for element, opens in _trail(elements, opened):
        chars = 0 if element.media else counted_chars(element.text)
        share = 1.0 if chars == 0 else min(1.0, max(0.0, left / chars))
        if share == 0:
            break
        left -= chars
        screen.append((element.key, round(share, 4)))
        words_there = LOOK_SECONDS * words_per_second if element.media else len(element.text.split())
        own = share * max(1, words_there)
        words += own
        if words >= WORDS_ON_SCREEN or (opens and share == 1) or share < 1:
            view = _look(screen, words, words_per_second, rng, element.key if opens and share == 1 else None)
            if share < 1:
                yield replace(view, last_seconds=view.seconds * own / words)
                return
            yield view
            screen, words = [], 0.0
    if screen:
        view = _look(screen, words, words_per_second, rng, None)
        yield replace(view, last_seconds=view.seconds * own / words)


def list_depth(elements: Sequence[Element], persistence: float, rng: np.random.Generator) -> float:
    """Draw the counted characters read of a ranked list.

    After each entry the reader goes on with the same probability.
    """
    entries = rng.geometric(1 - persistence)
    return math.fsum(counted_chars(element.text) for element in elements[:entries])


def _trail(elements: Sequence[Element], opened: Collection[str]) -> Iterator[tuple[Element, bool]]:
    """Elements in the order of reading, and whether each is a link to open."""
    for element in elements:
        opens = element.second is not None and element.key in opened
        yield element, opens
        if opens and element.second is not None:
            for item in element.second:
                yield item, False


def _look(
    screen: list[tuple[str, float]], words: float, speed: float, rng: np.random.Generator, opens: str | None
) -> Glance:
    seconds = words / speed * float(np.exp(rng.normal(0.0, READING_NOISE_SD)))
    return Glance(items=tuple(screen), seconds=seconds, opens=opens)


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
        world: Callable[[Page], TaskTruth],
        truth: CrowdParameters,
        words_per_second: float,
        careless: bool,
        rng: np.random.Generator,
    ) -> None:
        self._world, self._truth, self._rng = world, truth, rng
        self._speed, self._careless = words_per_second, careless
        self._wanted: dict[str, str] = {}
        self._remembered: dict[tuple[str, frozenset[str]], str] = {}

    def judge(self, page: Page, log: PageLog) -> dict[str, str]:
        """Judge a pair, and return the fields of the answer: choice, criteria, reason.

        ``log`` notes what a browser would.
        """
        sides, options = page.sides(), page.form().options
        if self._careless:
            log.wait(float(self._rng.uniform(1, 4)))
            fields = {
                name: str(self._rng.choice([value for value, _ in steps])) for name, steps in options.items()
            }
            return fields | self._reason(page)
        for side, shown in sides.items():
            self._read(log, page, side, shown.elements)
        log.wait(float(self._rng.uniform(1.5, 6)))
        fields = {
            name: self._preferred(page, sides, name, [value for value, _ in steps])
            for name, steps in options.items()
        }
        return fields | self._reason(page)

    def _reason(self, page: Page) -> dict[str, str]:
        """Give a reason where the page wants one, and sometimes where it may be left out."""
        asked = page.html.xpath("//textarea[@name='reason']")
        if not asked or (asked[0].get("required") is None and self._rng.random() >= GIVES_REASON):
            return {}
        return {"reason": str(self._rng.choice(REASONS))}

    def _read(self, log: PageLog, page: Page, side: str, elements: tuple[Element, ...]) -> None:
        """Read a side as deep as the person's parameters say.

        Patience limits it where its topic has intents, persistence in a list; any other side is read to its
        end.

        Of links those of one's intent are opened; where a topic has no intents, each source with the same chance.
        """
        world, depth = self._world(page), math.inf
        links = [element for element in elements if element.second is not None]
        topic = text_of(page.marked("data-query"))
        if topic in world.chances:
            interest = self._interest(world, topic)
            links = [element for element in links if element.text == interest]
            depth = float(self._rng.uniform(0, self._truth.patience_stops))
        elif world.rbp_p is not None:
            depth = list_depth(elements, world.rbp_p, self._rng)
        else:
            links = [element for element in links if self._rng.random() < SOURCES_OPENED]
        for view in read_screens(
            elements,
            opened={link.key for link in links},
            depth_chars=depth,
            words_per_second=self._speed,
            rng=self._rng,
        ):
            _note_look(log, side, view)

    def _interest(self, world: TaskTruth, query: str) -> str:
        """Return the intent that this person has in a query, drawn once."""
        if query not in self._wanted:
            chances = world.chances[query]
            weights = np.array(list(chances.values()))
            self._wanted[query] = list(chances)[self._rng.choice(len(chances), p=weights / weights.sum())]
        return self._wanted[query]

    def _preferred(
        self, page: Page, sides: Mapping[str, SideOnPage], question: str, options: Sequence[str]
    ) -> str:
        """Answer a question by weighing the two sides, or remember how they were weighed before."""
        most = max((int(value[-1]) for value in options if value[-1].isdigit()), default=0)
        if self._rng.random() < self._truth.behaviour.left_bias:
            return option_value("left", min(most, 1))
        both = frozenset(shown.content for shown in sides.values())
        if (question, both) in self._remembered and self._rng.random() < MEMORY:
            before, _, strength = self._remembered[question, both].partition(" ")
            side = next((side for side, shown in sides.items() if shown.content == before), before)
            return f"{side}_{strength}" if strength else side
        chosen = self._weighed(self._world(page), sides, both, most)
        side, _, strength = chosen.partition("_")
        if side in sides:
            self._remembered[question, both] = f"{sides[side].content} {strength}".strip()
        else:
            self._remembered[question, both] = chosen
        return chosen

    def _weighed(
        self, world: TaskTruth, sides: Mapping[str, SideOnPage], both: frozenset[str], most: int
    ) -> str:
        """Weigh the two sides by their worth, or by the known answer of a gold pair."""
        left, right = (world.worth(sides[side]) for side in ("left", "right"))
        difference = left - right
        if both in world.gold:
            better = world.gold[both]
            if better is None and self._rng.random() < SEES_TIE:
                return "equally_good"
            sign = 0 if better is None else 1 if sides["left"].content == better else -1
            difference = sign * GOLD_LOG_ODDS / world.slope
        if most:
            return graded_choice(self._rng, log_odds=world.slope * difference, most=most)
        return choice(
            self._rng, difference=difference, total=left + right, slope=world.slope, middle=world.middle
        )


def _note_look(log: PageLog, side: str, look: Glance) -> None:
    last = look.items[-1:] if look.last_seconds else ()
    before = look.items[: len(look.items) - len(last)]
    for items, seconds in ((before, look.seconds - look.last_seconds), (last, look.last_seconds)):
        for key, share in items:
            log.note("see", side=side, item=key, share=share)
        log.wait(seconds)
        for key, _ in items:
            log.note("see", side=side, item=key, share=0)
    if look.opens is not None:
        log.note("layer", side=side, item=look.opens, open=True)


def check_fields(page: Page, entry: TaskEntry, *, careless: bool, rng: np.random.Generator) -> Fields:
    """Answer the check before a task: rightly, or, if careless, anyhow."""
    options = page.form().options
    right = {f"check-{number}": str(item.answer) for number, item in enumerate(check_of(entry), start=1)}
    if set(options) != set(right):
        raise PageError(f"{page.url}: asks {sorted(options)}, but the task's check has {sorted(right)}")
    if careless:
        return {name: _any(options[name], rng) for name in right}
    return right


def rating_fields(page: Page, world: TaskTruth, *, careless: bool, rng: np.random.Generator) -> Fields:
    """Rate the iUnits of a sheet by their importance to the intent, with noise.

    A careless person rates at random.
    """
    query, intent = (text_of(page.marked(mark)) for mark in ("data-query", "data-intent"))
    fields = {}
    for name, iunit in page.legends().items():
        if iunit not in world.iunits[query]:
            raise PageError(f"{page.url}: {iunit!r} is no iUnit of {query!r}")
        thought = world.importance.get((query, intent, iunit), 0.0) + rng.normal(0.0, RATING_NOISE_SD)
        rating = rng.integers(HIGHEST + 1) if careless else np.clip(round(thought), 0, HIGHEST)
        fields[name] = str(int(rating))
    return fields


def question_fields(entry: QuestionTask, rng: np.random.Generator) -> Fields:
    """Answer the study's questions, none so that it screens out."""
    return {field_of(question): _answer(question, rng) for question in entry.questions}


def _answer(question: Question, rng: np.random.Generator) -> str | list[str]:
    fitting = [
        str(number)
        for number, option in enumerate(question.options, start=1)
        if option not in question.screen_out
    ]
    match question.type:
        case "single":
            return str(rng.choice(fitting))
        case "multiple":
            return [str(rng.choice(fitting))]
        case "number":
            low = NUMBERS[0] if question.min is None else question.min
            high = max(low, NUMBERS[1]) if question.max is None else question.max
            return str(int(np.clip(round(rng.uniform(low, high)), np.ceil(low), np.floor(high))))
    return str(rng.choice(WORDS))


def _any(options: Sequence[tuple[str, str]], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))][0]
