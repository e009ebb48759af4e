"""Worths by graded answers: recovered, clustered, and refused where answers are not graded."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import prefcal
from calibration.inference.ordinal import no_grades
from calibration.rank.graded import fit_graded_worths
from calibration.rank.judgments import JudgedSystems
from metrics.errors import InputError
from tests.calibration.graded import CUTS, WORTHS, graded_study


def drawn(n=3_000, *, side=0.4, seed=5):
    """Return judgments of 40 topics and 30 people, drawn by the model without anything that topics or people share."""
    rng = np.random.default_rng(seed)
    worth = np.array(list(WORTHS.values()))
    left, right = np.array([rng.permutation(4)[:2] for _ in range(n)]).T
    latent = worth[left] - worth[right] + side + rng.logistic(size=n)
    strength = np.sign(latent) * (np.abs(latent)[:, None] > CUTS).sum(axis=1)
    return JudgedSystems(
        task="t",
        systems=tuple(WORTHS),
        left=left,
        right=right,
        for_left=np.sign(strength) / 2 + 0.5,
        topic=np.arange(n) % 40,
        worker=rng.integers(0, 30, n),
        strength=strength,
    )


def test_worths_the_side_and_the_cut_points_are_recovered_with_honest_errors():
    """Within four standard errors of two ways of clustering what is independent."""
    fitted = fit_graded_worths(drawn())
    errors = fitted.variances.errors().standard_error
    truth = np.array(list(WORTHS.values())) - np.mean(list(WORTHS.values()))

    assert (np.abs(fitted.worth - truth) < 4 * errors).all()
    assert 0.02 < errors.min() < errors.max() < 0.08
    assert fitted.side == pytest.approx(0.4, abs=0.15)
    assert fitted.cuts == pytest.approx(CUTS, abs=0.2)
    assert fitted.worth.sum() == pytest.approx(0, abs=1e-12)


def test_sides_exchanged_change_nothing_but_the_side():
    """Left and right are names."""
    judged = drawn(300)
    there = fit_graded_worths(judged)
    turned = replace(
        judged, left=judged.right, right=judged.left, for_left=1 - judged.for_left, strength=-judged.strength
    )
    back = fit_graded_worths(turned)

    assert back.worth == pytest.approx(there.worth, abs=1e-9)
    assert back.side == pytest.approx(-there.side, abs=1e-9)
    assert back.variances.by_topic == pytest.approx(there.variances.by_topic)


def test_a_system_that_always_stood_left_has_a_worth_without_a_side():
    """Its side cannot be told from its worth."""
    judged = drawn(200)
    turn = judged.left > judged.right
    left = np.where(turn, judged.right, judged.left)
    two = replace(
        judged,
        left=np.zeros_like(left),
        right=np.ones_like(left),
        systems=("a", "b"),
    )
    assert np.isnan(fit_graded_worths(two).side)


def test_a_system_that_only_loses_by_most_has_no_finite_worth():
    """It is refused by name, as by choices alone; one that only loses by different grades has one."""
    judged = drawn(300)
    is_of_d = (judged.left == 3) | (judged.right == 3)
    away = np.where(judged.left == 3, -2.0, 2.0)
    always = replace(
        judged,
        strength=np.where(is_of_d, away, judged.strength),
        for_left=np.where(is_of_d, away > 0, judged.for_left),
    )
    graded = np.where(np.arange(300) % 2, away, away / 2)
    often = replace(always, strength=np.where(is_of_d, graded, judged.strength))

    with pytest.raises(ArithmeticError, match="a, b, c never lose, so no worth is finite"):
        fit_graded_worths(always)
    assert -5 < fit_graded_worths(often).worth[3] < -1.5


def test_rank_takes_worths_and_ranks_from_grades_and_counts_choices_as_before():
    """Win rates and duels are those of the choices; the best by worth stands first."""
    tables = graded_study()
    plain, graded = prefcal.rank(tables), prefcal.rank(tables, ordinal=True)
    shared = ["win_rate", "win_low", "win_high", "judgments"]

    assert graded.ordinal
    assert "cumulative-link model" in graded.summary()
    assert "cumulative-link model" not in plain.summary()
    assert graded.ranking["system"].tolist() == list(WORTHS)
    pd.testing.assert_frame_equal(graded.duels, plain.duels)
    pd.testing.assert_frame_equal(graded.frame()[shared], plain.frame()[shared], check_like=True)
    widths = [(one.ranking["worth_high"] - one.ranking["worth_low"]).mean() for one in (graded, plain)]
    assert 0 < widths[0] < widths[1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda rows: rows.drop(columns="strength"), "its answers have no strength: they are not graded"),
        (lambda rows: rows.assign(strength=rows["strength"].clip(upper=1)), "have the same strength"),
        (
            lambda rows: rows.assign(strength=rows["strength"].mask(rows["judgment"].isin(["J0-0", "J0-2"]))),
            r"\d answers? of 432 for a side ha(s|ve) no strength",
        ),
    ],
)
def test_answers_that_are_not_graded_are_refused_in_a_line(change, why):
    """Not fitted to what is there of them."""
    tables = graded_study()
    judged = change(tables["preferences"])
    with pytest.raises(InputError, match=why) as caught:
        prefcal.rank({"preferences": judged}, ordinal=True)
    assert len(caught.value.faults) == 1


def test_a_task_without_grades_is_left_out_beside_one_with_them():
    """As systems are that no comparison connects."""
    tables = graded_study()
    other = tables["preferences"].assign(
        task="plain", strength=None, judgment="P" + tables["preferences"]["judgment"]
    )
    both = pd.concat([tables["preferences"], other.assign(validation_of=None)], ignore_index=True)
    found = prefcal.rank({"preferences": both}, ordinal=True)

    assert set(found.ranking["task"]) == {"answers"}
    assert "task plain: its answers have no strength: they are not graded; it is left out" in found.notes
    assert no_grades(drawn(50).strength) == ""
