"""A lean to one side of the screen, and whether it can be told from a liking."""

import re

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from calibration.checks.uneven_sides import check_position_bias
from calibration.inference.results import NotIdentifiedError
from calibration.raters.position_bias import fit_position_bias
from calibration.raters.simulate import Crowd, simulate_judgments
from tests.calibration.rated import judgments

LEANING = Crowd(per_pair=7, care=0.7, care_spread=0.3, left_habit=0.5, left_sd=0.7, repeats=2)


def names(fit) -> list[str]:
    return [note.name for note in fit.diagnostics]


def doubt(preferences: pd.DataFrame) -> str | None:
    """Return what is said of the sides."""
    finding = check_position_bias(fit_position_bias(preferences), preferences)
    return None if finding is None else finding.name


def test_it_is_the_clustered_logit_of_statsmodels():
    """An intercept-only GLM with the sandwich over workers, written down."""
    table = simulate_judgments(8, 21, LEANING, np.random.default_rng(1))
    fit = fit_position_bias(table)
    first = table[table["validation_of"].isna() & table["choice"].isin(["left", "right"])]
    glm = sm.GLM(
        (first["choice"] == "left").to_numpy(float), np.ones((len(first), 1)), family=sm.families.Binomial()
    ).fit(cov_type="cluster", cov_kwds={"groups": first["worker"].astype("category").cat.codes})

    assert fit.details["log_odds"] == pytest.approx(glm.params[0], rel=1e-6)
    assert fit.details["log_odds_se"] == pytest.approx(glm.bse[0], rel=1e-6)
    assert fit.n_rows == len(first)


def test_ties_and_repeats_say_nothing_about_sides():
    """Two left, one right."""
    fit = fit_position_bias(
        judgments(
            ("v", "A", "B", "left"),
            ("v", "A", "C", "equally_good"),
            ("w", "A", "B", "left"),
            ("w", "C", "A", "right"),
            ("w", "B", "A", "left", 2),
        )
    )

    assert fit.params["left_share"] == pytest.approx(2 / 3)
    assert fit.details["equal_share"] == pytest.approx(1 / 4)


def test_pairs_always_shown_one_way_round_are_warned_of():
    """Then a lean cannot be told from a liking for what stood there."""
    one_way = [
        ("v", "A", "B", "left"),
        ("w", "A", "B", "left"),
        ("v", "D", "C", "right"),
        ("w", "D", "C", "left"),
    ] * 5

    assert doubt(judgments(*one_way)) == "sides_not_drawn"
    assert doubt(judgments(*one_way, ("x", "B", "A", "left"))) is None


def test_uneven_sides_are_warned_of():
    """Then a lean favours one system."""
    rows = [(f"w{n}", "A", "B", "left" if n % 2 else "right") for n in range(30)]

    assert doubt(judgments(*rows, ("x", "B", "A", "left"))) == "uneven_sides"
    even = [(w, b, a, c) if n % 2 else (w, a, b, c) for n, (w, a, b, c) in enumerate(rows)]
    assert doubt(judgments(*even)) is None


def test_where_sides_are_uneven_no_lean_is_asserted():
    """B, which people like, mostly stood on the right: nobody leans, as the vote model says."""
    rng = np.random.default_rng(3)
    rows = []
    for number in range(240):
        other = "AC"[number % 2]
        sides = (other, "B") if rng.random() < 0.8 else ("B", other)
        rows.append(
            (f"w{number % 12}", *sides, "left" if (rng.random() < 0.8) == (sides[0] == "B") else "right")
        )
    table = judgments(*rows)
    (lean,) = (each for each in fit_position_bias(table).diagnostics if each.name == "position_bias")

    assert doubt(table) == "uneven_sides"
    assert "People lean" not in lean.sentence
    assert "that share also shows which system stood there" in lean.sentence
    between = float(re.search(r"between equals it is ([\d.]+) %", lean.sentence)[1])
    assert abs(between - 50) < 8 < abs(100 * fit_position_bias(table).params["left_share"] - 50)


def test_a_lean_is_warned_of_and_none_is_not():
    """The interval over workers decides."""
    strong = Crowd(per_pair=7, care=0.2, left_habit=1.0)
    none = Crowd(per_pair=7)

    assert "position_bias" in names(
        fit_position_bias(simulate_judgments(8, 21, strong, np.random.default_rng(2)))
    )
    assert "position_bias" not in names(
        fit_position_bias(simulate_judgments(8, 21, none, np.random.default_rng(2)))
    )


def test_one_side_only_is_a_warning_without_an_interval():
    """The log odds are infinite."""
    fit = fit_position_bias(judgments(("v", "A", "B", "left"), ("w", "B", "A", "left")))

    assert fit.params["left_share"] == 1
    assert fit.conf_int() == {"left_share": (None, None)}
    assert "one_side_only" in names(fit)


def test_nobody_choosing_a_side_is_refused():
    """There is nothing to lean."""
    with pytest.raises(NotIdentifiedError, match="nobody chose a side"):
        fit_position_bias(judgments(("v", "A", "B", "equally_bad")))


def test_intervals_hold_the_truth(seeds):
    """People lean differently: the truth is their common share."""
    truth = fit_position_bias(simulate_judgments(150, 21, LEANING, np.random.default_rng(0))).params[
        "left_share"
    ]
    held = []
    for seed in seeds(165, least=33):
        table = simulate_judgments(8, 10, LEANING, np.random.default_rng([seed, 9]))
        low, high = fit_position_bias(table).conf_int()["left_share"]
        held.append(low <= truth <= high)

    assert np.mean(held) >= 0.88
