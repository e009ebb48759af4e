"""How a simulated person decides and reads: the laws that the calibration is to find again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.summaries.trailtext import counted_chars
from study_app.protocol.sides import LOOK_SECONDS
from study_app.simulate import mind
from study_app.simulate.browser import Element

words = st.text("abcdefgh", min_size=1, max_size=9)
texts = st.lists(words, min_size=1, max_size=12).map(" ".join)
SUMMARY = (
    Element(key="f0", text="ten chars1"),
    Element(
        key="f1", text="history", second=(Element(key="s1.0", text="old"), Element(key="s1.1", text="older"))
    ),
    Element(key="f2", text="climbing", second=(Element(key="s2.0", text="steep"),)),
    Element(key="f3", text="the end"),
)


def read(elements, *, opened=(), depth, seed=1, speed=4.0):
    rng = np.random.default_rng(seed)
    return list(
        mind.read_screens(elements, opened=opened, depth_chars=depth, words_per_second=speed, rng=rng)
    )


def test_only_the_wanted_layer_is_opened_and_read_after_its_link():
    """The trailtext of an intent: its second layer stands right after its link, other links are passed."""
    seen = read(SUMMARY, opened={"f2"}, depth=1000)

    assert [key for look in seen for key, _ in look.items] == ["f0", "f1", "f2", "s2.0", "f3"]
    assert [look.opens for look in seen if look.opens] == ["f2"]


def test_a_look_at_a_picture_takes_its_seconds():
    """Five, as the length of a study is worked out from, and in any case all of the picture: it has no characters."""
    seen = read((Element(key="m1", text="Press to zoom", media="5e"),), depth=1.0, speed=2.0)
    [look] = seen

    assert look.items == (("m1", 1.0),)
    assert look.seconds == pytest.approx(LOOK_SECONDS * np.exp(np.random.default_rng(1).normal(0, 0.3)))


def test_a_link_that_is_not_reached_is_not_opened():
    """Someone who stops before the link's end never sees its layer."""
    seen = read(SUMMARY, opened={"f2"}, depth=20)

    assert [look.opens for look in seen] == [None]
    assert seen[-1].items[-1][0] == "f2"


@given(st.lists(texts, min_size=1, max_size=30), st.floats(0.5, 2000))
def test_the_characters_seen_are_the_depth_drawn(lines, depth):
    """Shares on screen add up to the depth, or to the whole text when it is shorter."""
    elements = tuple(Element(key=f"f{n}", text=line) for n, line in enumerate(lines))
    seen = read(elements, depth=depth)

    shown = sum(counted_chars(lines[int(key[1:])]) * share for look in seen for key, share in look.items)
    whole = sum(counted_chars(line) for line in lines)
    assert shown == pytest.approx(min(depth, whole), abs=0.01 * len(lines))


def test_a_list_is_read_entry_by_entry_with_the_same_chance_to_go_on():
    """Of 20,000 readers .7 see more than one entry, .49 more than two; nobody sees part of one."""
    entries = tuple(Element(key=f"r{n}", text="ten chars1") for n in range(1, 31))
    rng = np.random.default_rng(1)
    seen = np.array([mind.list_depth(entries, 0.7, rng) for _ in range(20_000)]) / counted_chars("ten chars1")

    assert set(seen) <= set(range(1, 31))
    assert [(seen > n).mean() for n in (1, 2, 5)] == pytest.approx([0.7, 0.49, 0.7**5], abs=0.015)


def test_reading_takes_words_over_speed():
    """Over many texts the mean time is the number of words divided by the speed, up to the noise's mean."""
    elements = tuple(Element(key=f"f{n}", text="one two three four five") for n in range(2000))
    seconds = sum(look.seconds for look in read(elements, depth=1e9, speed=5.0))

    assert seconds == pytest.approx(10_000 / 5.0 * np.exp(mind.READING_NOISE_SD**2 / 2), rel=0.05)


@pytest.mark.parametrize("difference", [-2.0, 0.0, 0.7])
def test_choices_follow_davidsons_model(difference):
    """P(left) : P(right) : P(equal) = e^(bd/2) : e^(-bd/2) : nu, within four standard errors."""
    rng, n = np.random.default_rng(5), 4000
    drawn = [mind.choice(rng, difference=difference, total=1.0, slope=1.5, middle=0.0) for _ in range(n)]

    weights = np.array([np.exp(0.75 * difference), np.exp(-0.75 * difference), mind.TIE_WEIGHT])
    expected = weights / weights.sum()
    counts = np.array([drawn.count(option) for option in ("left", "right", "equally_good")])
    assert counts.sum() == n
    assert np.all(np.abs(counts - n * expected) < 4 * np.sqrt(n * expected * (1 - expected)))


def test_equal_pairs_below_the_middle_are_equally_bad():
    """The label of a tie says whether both are worth much."""
    rng = np.random.default_rng(1)
    drawn = {mind.choice(rng, difference=0.0, total=-1.0, slope=1.0, middle=0.0) for _ in range(200)}

    assert drawn == {"left", "right", "equally_bad"}


@given(st.dictionaries(words, st.floats(0.01, 1.0), min_size=1, max_size=6))
def test_ticks_are_proportional_to_the_probabilities(weights):
    """Normalised tick chances are the probabilities themselves, so that votes estimate them."""
    total = sum(weights.values())
    probabilities = {name: weight / total for name, weight in weights.items()}
    chances = mind.tick_chances(probabilities)

    assert max(chances.values()) <= mind.MAX_TICK_CHANCE + 1e-12
    for name, p in probabilities.items():
        assert chances[name] / sum(chances.values()) == pytest.approx(p)
