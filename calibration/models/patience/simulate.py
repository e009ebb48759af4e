"""Simulators of summaries, preferences, stops and votes from known parameters.

Tests, benchmarks and planning use them.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.inference.choice import choice_probabilities
from calibration.models.patience.pairs import Decay, worth
from calibration.tables.definition import Tables
from calibration.tables.files import check_frame
from calibration.tables.tables import TABLES
from metrics.arrays import Bools, Floats, Ints
from metrics.summaries.score import m_from_positions
from metrics.summaries.trailtext import Probabilities

KINDS = ("good-order", "bad-order", "one-layer", "wrong-links", "short", "redundant", "random")
"""Kinds of the summaries of `simulate_summaries`, by system."""
_LINK_CHARS = 12
_SHARE_RELEVANT = 0.5


def simulate_summaries(
    topics: int, rng: np.random.Generator, *, intents: int = 5, iunits: int = 25
) -> tuple[Tables, dict[str, dict[str, float]]]:
    """Draw a collection and seven kinds of two-layered summaries of each topic.

    Parameters
    ----------
    topics : int
        Number of topics.
    rng : Generator
        Source of the draws.
    intents, iunits : int
        Of each topic.

    Returns
    -------
    tables : dict of str to DataFrame
        Tables positions and intents.
    probabilities : dict of str to dict of str to float
        Topic -> intent -> P(i|q), as in table intents.
    """
    names = [f"I{i}" for i in range(intents)]
    positions: list[tuple[object, ...]] = []
    probabilities = {}
    for topic in (f"Q{number:03d}" for number in range(topics)):
        share = rng.dirichlet(np.full(intents, 2.0))
        probabilities[topic] = dict(zip(names, share.tolist(), strict=True))
        chars = rng.integers(20, 60, iunits)
        relevant = rng.random((intents, iunits)) < _SHARE_RELEVANT
        importance = rng.integers(1, 5, (intents, iunits)) * relevant
        for kind in KINDS:
            first, second = _layers(kind, share @ importance, importance, rng)
            for intent in range(intents):
                positions += [
                    ("summaries", topic, kind, names[intent], f"U{u}", float(importance[intent, u]), offset)
                    for u, offset in _trail(first, second, intent, chars)
                ]
    rows = pd.DataFrame(positions, columns=list(TABLES["positions"].column_names))
    offered = [(topic, intent, p) for topic, of in probabilities.items() for intent, p in of.items()]
    return {
        "positions": check_frame(rows, TABLES["positions"]),
        "intents": check_frame(
            pd.DataFrame(offered, columns=["topic", "intent", "probability"]), TABLES["intents"]
        ),
    }, probabilities


def _layers(
    kind: str,
    value: Floats,
    importance: Ints,
    rng: np.random.Generator,
) -> tuple[list[int], dict[int, list[int]]]:
    """Return the iUnits of the first layer, and of each linked second layer.

    Each intent that has a link has a second layer.
    """
    order = np.argsort(-value, kind="stable").tolist()
    intents = len(importance)
    if kind == "one-layer":
        return order, {}
    if kind == "short":
        return order[:6], {}
    if kind == "redundant":
        return order[:10] + order[:6], dict.fromkeys(range(intents), order[5:15])
    if kind == "bad-order":
        order = order[::-1]
    if kind == "random":
        order = rng.permutation(order).tolist()
    second: dict[int, list[int]] = {i: [] for i in range(intents)}
    for iunit in order[8:]:
        best = int(importance[:, iunit].argmax())
        second[(best + 1) % intents if kind == "wrong-links" else best].append(iunit)
    return order[:8], second


def _trail(
    first: list[int],
    second: Mapping[int, list[int]],
    intent: int,
    chars: Ints,
) -> Iterator[tuple[int, int]]:
    """Yield each iUnit that a reader with one intent meets, with its offset.

    The first layer comes first, then the links.
    """
    end, read_iunits = 0, set()
    items = list(first)
    for link, inner in second.items():
        items += [-1, *(inner if link == intent else [])]
    for item in items:
        end += _LINK_CHARS if item < 0 else int(chars[item])
        if item >= 0 and item not in read_iunits:
            read_iunits.add(item)
            yield item, end


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedJudges:
    """Simulated judges of pairs of summaries, by Davidson's model on differences of M.

    Attributes
    ----------
    patience_chars : float
        The true L; may be infinite.
    per_topic : int
        Judges of each topic; everyone judges all pairs of one topic.
    people : int or None
        How many judge all pairs of all topics instead; None: as ``per_topic`` says.
    effect : float
        Log odds of a pair whose M differs by one standard deviation over all pairs; negative: people prefer what
        scores lower.
    tie_weight : float
        nu of the model.
    unexplained_sd : float
        Standard deviation, in log odds, of what people like about a summary beyond its M.
    sensitivity_sd : float
        Standard deviation of the log of a person's own factor on all log odds.
    patience_cv : float
        Coefficient of variation of people's own patience, log-normal with the median ``patience_chars``.
    decay : {'linear', 'exponential', 'hyperbolic', 'step'}
        How worth falls for them with the offset; exponential is exp(-x / L), step is all of it up to L and nothing beyond.
    careless : float
        Share of people who answer by chance.

    Examples
    --------
    >>> SimulatedJudges(patience_chars=840, careless=0.1).per_topic
    14
    """

    patience_chars: float
    per_topic: int = 14
    people: int | None = None
    effect: float = 1.0
    tie_weight: float = 0.6
    unexplained_sd: float = 0.0
    sensitivity_sd: float = 0.3
    patience_cv: float = 0.0
    decay: Decay = "linear"
    careless: float = 0.0


def simulate_preferences(
    positions: pd.DataFrame, probabilities: Probabilities, judges: SimulatedJudges, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw table preferences.

    Parameters
    ----------
    positions : DataFrame
        Table positions; a system without rows for a topic is not compared there.
    probabilities : mapping of topic to mapping of intent to float
        P(i|q).
    judges : SimulatedJudges
        Who judges.
    rng : Generator
        Source of the draws.

    Returns
    -------
    DataFrame
        Sides are drawn at random; a tie is called good or bad at random.

    Raises
    ------
    ValueError
        If the judges or the positions cannot be drawn from.

    Examples
    --------
    >>> import prefcal
    >>> collection = prefcal.read_summary_collection("examples/two_layered/collection")
    >>> run = prefcal.read_summary_run("examples/two_layered/runs/good-order.xml", collection)
    >>> import numpy as np
    >>> import pandas as pd
    >>> other = prefcal.read_summary_run("examples/two_layered/runs/bad-order.xml", collection)
    >>> shown = pd.concat(
    ...     [prefcal.summary_positions(collection, each) for each in (run, other)]
    ... ).assign(task="summaries")
    >>> given = {query.id: dict(query.probability) for query in collection.queries.values()}
    >>> votes = simulate_preferences(
    ...     shown, given, prefcal.SimulatedJudges(patience_chars=840), np.random.default_rng(1)
    ... )
    >>> len(votes), sorted(votes["choice"].unique())
    (112, ['equally_bad', 'equally_good', 'left', 'right'])
    """
    m = _worth(positions, probabilities, np.array([judges.patience_chars]), judges.decay)
    liking = rng.normal(0, judges.unexplained_sd, len(m))
    index = pd.Series(range(len(m)), index=m.index)
    pairs = [pair for _, of in m.groupby(level="topic", sort=False) for pair in combinations(of.index, 2)]
    one, other = (index.loc[[pair[side] for pair in pairs]].to_numpy() for side in (0, 1))
    each = judges.per_topic if judges.people is None else judges.people
    topic, topics = pd.factorize(np.tile([first[-2] for first, _ in pairs], each))
    judge = np.repeat(np.arange(each), len(pairs))
    if judges.people is None:
        judge = judge * len(topics) + topic
    sensitivity = np.exp(rng.normal(0, judges.sensitivity_sd, judge.max() + 1))
    scale = judges.effect / float((m.to_numpy()[one] - m.to_numpy()[other]).std())
    own, whose = _own_worth(positions, probabilities, judges, len(sensitivity), rng)
    one, other = np.tile(one, each), np.tile(other, each)
    difference = own[one, whose[judge]] - own[other, whose[judge]]
    log_odds = (scale * difference + liking[one] - liking[other]) * sensitivity[judge]
    if judges.careless:
        log_odds *= (rng.random(len(sensitivity)) >= judges.careless)[judge]
    chances = choice_probabilities(log_odds, np.full(1, math.log(judges.tie_weight)))
    return _judgments(pairs * each, judge, _drawn(np.stack(chances), rng), rng)


def _own_worth(
    positions: pd.DataFrame,
    probabilities: Probabilities,
    judges: SimulatedJudges,
    people: int,
    rng: np.random.Generator,
) -> tuple[Floats, Ints]:
    """Return M of every summary at each patience, (s, k), and each person's column."""
    median = np.array([judges.patience_chars])
    if not judges.patience_cv:
        return _worth(positions, probabilities, median, judges.decay).to_numpy(), np.zeros(
            people, dtype=np.intp
        )
    own = median * np.exp(rng.normal(0, spread_of_logs(judges.patience_cv), people))
    return _worth(positions, probabilities, own, judges.decay).to_numpy(), np.arange(people)


def _worth(
    positions: pd.DataFrame, probabilities: Probabilities, patience: Floats, decay: Decay
) -> pd.DataFrame:
    """Return M of every summary, a column a patience.

    A decay of another form enters as weights without decay.
    """
    if decay == "linear":
        return m_from_positions(positions, probabilities, patience.tolist())
    fallen = [
        positions.assign(
            importance=positions["importance"] * worth(positions["offset_chars"].to_numpy() / each, decay)
        )
        for each in patience
    ]
    return pd.concat([m_from_positions(rows, probabilities, [math.inf]) for rows in fallen], axis="columns")


def _drawn(probabilities: Floats, rng: np.random.Generator) -> Ints:
    """Draw 0, 1 or 2 for each column of (3, n) probabilities."""
    drawn: Ints = (rng.random(probabilities.shape[1]) > probabilities[:2].cumsum(axis=0)).sum(axis=0)
    return drawn


def _judgments(
    pairs: list[tuple[tuple[str, ...], tuple[str, ...]]],
    judge: Ints,
    votes: Ints,
    rng: np.random.Generator,
) -> pd.DataFrame:
    swapped = rng.random(len(pairs)) < 0.5
    good = rng.random(len(pairs)) < 0.5
    sides = np.where(swapped, 1 - votes, votes)
    choice = np.where(
        votes == 2, np.where(good, "equally_good", "equally_bad"), np.where(sides == 0, "left", "right")
    )
    first, second = (np.array([pair[side][-1] for pair in pairs], dtype=object) for side in (0, 1))
    topic = np.array([pair[0][-2] for pair in pairs], dtype=object)
    rows = pd.DataFrame(
        {
            "judgment": [f"J{number}" for number in range(len(pairs))],
            "worker": [f"W{number}" for number in judge],
            "task": "summaries",
            "topic": topic,
            "pair": topic + "/" + first + "/" + second,
            "system_left": np.where(swapped, second, first),
            "system_right": np.where(swapped, first, second),
            "choice": choice,
        }
    )
    return check_frame(rows, TABLES["preferences"])


def spread_of_logs(cv: float) -> float:
    """Return the log-scale deviation of a log-normal law from its relative one.

    The relative deviation is the coefficient of variation.
    """
    return math.sqrt(math.log1p(cv**2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """Deviations of simulated readers from the law of stops.

    Attributes
    ----------
    patience_cv : float
        Coefficient of variation of a log-normal L over workers, with the mean that is given.
    finishers, quitters : float
        Share of workers who always read to the end, and who never go beyond the first lines (60 characters).
    texts : int or None
        How many texts there are, read by all in turn; None: nobody reads what another one reads.
    text_sd : float
        Standard deviation of the logarithm of how far a text is read.
    exponential : bool
        A stop falls off as exp(-x / L) instead of along a line.
    screen_chars : float
        Stops are known to a screen of so many counted characters only; 0: exactly.
    """

    patience_cv: float = 0.0
    finishers: float = 0.0
    quitters: float = 0.0
    texts: int | None = None
    text_sd: float = 0.0
    exponential: bool = False
    screen_chars: float = 0.0


FIRST_LINES_CHARS = 60.0


def simulate_stops(
    patience_chars: float,
    rng: np.random.Generator,
    *,
    workers: int = 60,
    texts_per_worker: int = 4,
    shortest: float = 0.2,
    longest: float = 1.6,
    habits: Habits | None = None,
) -> pd.DataFrame:
    """Draw table stops: uniform on (0, L), cut at the end of the text.

    Parameters
    ----------
    patience_chars : float
        L.
    rng : Generator
        Source of the draws.
    workers, texts_per_worker : int
        How much is read.
    shortest, longest : float
        Texts are uniform between these lengths, in units of L.
    habits : Habits, optional
        What people and texts are like instead.
    """
    of = habits or Habits()
    n = workers * texts_per_worker
    spread = spread_of_logs(of.patience_cv)
    own = patience_chars * np.exp(rng.normal(-(spread**2) / 2, spread, workers)).repeat(texts_per_worker)
    kind = rng.random(workers).repeat(texts_per_worker)
    text, lengths = (
        np.arange(n),
        rng.uniform(shortest, longest, n if of.texts is None else of.texts) * patience_chars,
    )
    if of.texts is not None:
        text %= of.texts
        own *= np.exp(rng.normal(0, of.text_sd, of.texts))[text]
    read, reached_end = drawn_stops(
        lengths[text],
        own,
        rng,
        finishers=(kind < of.finishers).astype(np.float64),
        exponential=of.exponential,
    )
    quits = kind > 1 - of.quitters
    read = np.where(quits, rng.random(n) * FIRST_LINES_CHARS, read)
    names = np.repeat([f"W{number}" for number in range(workers)], texts_per_worker)
    stops = _by_screen(lengths[text], read, reached_end & ~quits, of.screen_chars)
    return _stops(names, text if of.texts is not None else None, lengths[text], stops)


def _by_screen(
    text_chars: Floats, read: Floats, reached_end: Bools, screen_chars: float
) -> tuple[Floats, Bools]:
    """Return how far the screen showed the text, if screens have a length."""
    if not screen_chars:
        return read, reached_end
    shown = np.ceil(read / screen_chars) * screen_chars
    return np.minimum(shown, text_chars), reached_end | (shown >= text_chars)


def simulate_stops_on(text_chars: Floats, patience_chars: float, rng: np.random.Generator) -> pd.DataFrame:
    """Draw table stops on texts of given lengths, one reader each.

    `drawn_stops` has the parameters.
    """
    names = np.array([f"W{number}" for number in range(len(text_chars))])
    return _stops(names, None, text_chars, drawn_stops(text_chars, patience_chars, rng))


def drawn_stops(
    text_chars: Floats,
    patience_chars: float | Floats,
    rng: np.random.Generator,
    *,
    finishers: float | Floats = 0.0,
    exponential: bool = False,
) -> tuple[Floats, Bools]:
    """Draw how far texts are read, and whether to their end.

    Parameters
    ----------
    text_chars : (n,) ndarray of float
        Lengths in counted characters.
    patience_chars : float or (n,) ndarray of float
        L; may be infinite.
    rng : Generator
        Source of the draws.
    finishers : float or (n,) ndarray of float
        Chance of reading to the end whatever happens.
    exponential : bool
        exp(-x / L) still read at x, instead of 1 - x / L.
    """
    n = len(text_chars)
    finishes = rng.random(n) < finishers
    depth = rng.random(n)
    if exponential:
        depth = -np.log1p(-depth)
    stop = np.where(finishes | np.isinf(patience_chars), np.inf, depth * np.minimum(patience_chars, 1e300))
    return np.minimum(stop, text_chars), stop >= text_chars


def _stops(
    names: NDArray[np.str_], text: Ints | None, text_chars: Floats, stops: tuple[Floats, Bools]
) -> pd.DataFrame:
    """Return a table stops; a text that several read is a topic of one system."""
    read, reached_end = stops
    rows = pd.DataFrame(
        {
            "worker": names,
            "topic": "Q000" if text is None else [f"Q{number:03d}" for number in text],
            "system": None if text is None else "S",
            "layout": "stacked",
            "chars_read": read,
            "text_chars": text_chars,
            "reached_end": reached_end,
        }
    )
    return check_frame(rows, TABLES["stops"])


def simulate_votes(
    probabilities: Probabilities, rng: np.random.Generator, *, voters: int = 10, mean_ticks: float = 2.0
) -> Tables:
    """Draw tables intents and intent_votes, with independent ticks.

    Parameters
    ----------
    probabilities : mapping of topic to mapping of intent to float
        P(i|q); the chance of a tick is proportional to it, at most 0.95.
    rng : Generator
        Source of the draws.
    voters : int
        Voters of each topic; each votes on one topic.
    mean_ticks : float
        Ticks that a voter gives on average, as far as the bound of 0.95 allows.
    """
    votes: list[tuple[str, str, str | None]] = []
    for topic, shares in probabilities.items():
        names, share = list(shares), np.array(list(shares.values()))
        chance = share * min(mean_ticks, 0.95 / share.max())
        for voter, ticked in enumerate(rng.random((voters, len(names))) < chance):
            row = [(f"{topic}-V{voter}", topic, names[i]) for i in np.flatnonzero(ticked)]
            votes += row or [(f"{topic}-V{voter}", topic, None)]
    offered = [(topic, intent) for topic, shares in probabilities.items() for intent in shares]
    return {
        "intents": check_frame(pd.DataFrame(offered, columns=["topic", "intent"]), TABLES["intents"]),
        "intent_votes": check_frame(
            pd.DataFrame(votes, columns=["worker", "topic", "intent"]), TABLES["intent_votes"]
        ),
    }
