"""Workers who give the same answers are named, everywhere, and count as one person if that is asked for."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import prefcal
from benchmarks import fresh_people
from benchmarks.same_answers import ANSWERS, Crowd, with_copies
from calibration.checks.same_answers import find_same_answers, one_cluster
from calibration.fit.families import FitOptions
from calibration.rank.ranking import rank_systems
from calibration.simulate import SimulatedStudy
from calibration.tables.files import write_tables
from metrics.errors import InputError
from study_app.cli import cli


def invoke(*words: object):
    return CliRunner().invoke(cli, [str(word) for word in words])


COPIES = ("W09", "W10", "W11")


def votes(seed: int = 1, **crowd: object) -> dict[str, pd.DataFrame]:
    return {"preferences": replace(Crowd(copies=3), **crowd).study(np.random.default_rng([seed, 4]))}


@pytest.mark.parametrize("seed", range(4))
def test_three_copies_of_twelve_are_named_and_nobody_else(seed):
    """60 judgments each."""
    (found,) = find_same_answers(votes(seed))

    assert found.groups == (COPIES,)
    assert found.shared == 60
    assert found.p_value < 0.001
    assert found.finding().severity == "warning"


@pytest.mark.parametrize(
    "crowd",
    [
        {},
        {"camp": 6, "worth": 2.0},
        {"camp": 3, "worth": 4.0},
        {"equals": 3},
        {"lefts": 3, "fixed": True},
        {"clickers": 4},
        {"taste": 1.5},
    ],
)
def test_tastes_habits_and_easy_items_are_no_copies(crowd):
    """Camps agree with each other; people who always answer alike do so, too."""
    assert not any(find_same_answers(votes(seed, **{"copies": 0} | crowd)) for seed in range(5))


def test_two_groups_are_told_apart():
    """Each is one person."""
    tables = votes()
    rows = tables["preferences"]
    twins = rows[rows["worker"] == "W00"].assign(worker="X")
    (found,) = find_same_answers({"preferences": pd.concat([rows, twins], ignore_index=True)})

    assert found.groups == (("W00", "X"), COPIES)
    assert "5 workers in 2 groups" in found.what_was_seen


def test_fewer_than_ten_items_in_common_say_nothing():
    """Nine that are alike come about."""
    rows = votes()["preferences"]
    pair = (
        rows["topic"].astype("str") + rows["system_left"].astype("str") + rows["system_right"].astype("str")
    )
    kept = rows[rows["topic"].isin(["Q0"]) | pair.isin([])]

    assert kept.groupby("worker").size().max() < 10
    assert not find_same_answers({"preferences": kept})


def test_equal_rows_of_times_are_found_in_every_table():
    """Visits and dwells of a worker under two more names, and none without."""
    tables = prefcal.simulate(SimulatedStudy(workers=20, topics=6), seed=3)
    tables = {name: tables[name] for name in ("follows", "visits", "reads")}
    found = find_same_answers(with_copies(tables, 2))

    assert {each.table for each in found} == {"reads", "visits"}
    assert {len(group) for each in found for group in each.groups} == {3}
    assert not find_same_answers(tables)


def test_as_one_cluster_each_row_of_times_counts_once():
    """The tables are those without the copies, by number of rows."""
    tables = prefcal.simulate(SimulatedStudy(workers=20, topics=6), seed=3)
    tables = {name: tables[name] for name in ("follows", "visits")}
    twice = with_copies(tables, 2)
    united = one_cluster(twice, find_same_answers(twice))

    assert {name: len(frame) for name, frame in united.items()} == {
        name: len(frame) for name, frame in tables.items()
    }
    assert united["visits"]["worker"].nunique() == tables["visits"]["worker"].nunique()


def test_fit_names_them_and_says_what_the_numbers_are_with_one_person():
    """The estimate stays as it is; the other stands beside it."""
    tables = prefcal.simulate(SimulatedStudy(workers=20, topics=6), seed=3)
    tables = with_copies({name: tables[name] for name in ("follows", "visits")}, times=4)
    apart = prefcal.fit(tables, options=FitOptions())
    quiet = prefcal.fit(tables, options=FitOptions(checks=False))
    one = prefcal.fit(tables, options=FitOptions(same_answers="one-cluster"))
    entry, united = (each.model.parameters["away_mean_seconds"] for each in (apart, one))
    laws = [law for law in entry.sensitivity if law.law == "same answers as one person"]
    (row,) = [
        finding
        for finding in apart.findings
        if finding.name == "same_answers" and "away_mean_seconds" in finding.parameters
    ]

    assert entry.estimate == quiet.model.parameters["away_mean_seconds"].estimate
    assert [law.estimate for law in laws] == [united.estimate]
    assert one.results["away_mean_seconds"].n_workers == apart.results["away_mean_seconds"].n_workers - 4
    assert "With each group as one person: away_mean_seconds" in row.sentence
    assert row.severity == "warning"
    assert {f.severity for f in one.findings if f.name == "same_answers"} == {"info"}


def test_rank_names_them_and_counts_them_as_one_person():
    """Intervals grow; win rates are those of all votes."""
    tables = votes()
    apart, one = (rank_systems(tables, same_answers=how) for how in ("apart", "one-cluster"))
    width = [(each.ranking["win_high"] - each.ranking["win_low"]).mean() for each in (apart, one)]

    assert sum("(same_answers)" in note for note in apart.notes) == 1
    assert any("counts as one person" in note for note in one.notes)
    assert width[1] > width[0]
    assert apart.frame()["win_rate"].sort_index().tolist() == pytest.approx(
        one.frame()["win_rate"].sort_index().tolist()
    )


def test_agree_names_them_and_counts_them_as_one_person():
    """In the diagnostics of the task."""
    tables = votes()
    runs = [f"s{number}" for number in range(4)]
    scores = pd.DataFrame(
        [
            (run, f"Q{topic}", "mine", (number * 7 + topic) % 5)
            for topic in range(10)
            for number, run in enumerate(runs)
        ],
        columns=["run", "topic", "metric", "value"],
    )
    apart, one = (prefcal.agree(tables, scores=scores, same_answers=how) for how in ("apart", "one-cluster"))

    assert any(
        line.startswith("t: same_answers: 3 workers give the same answers (W09, W10, W11)")
        for line in apart.warnings
    )
    assert not any("same_answers" in line for line in one.warnings)
    assert any(note.name == "same_answers" for note in one.diagnostics["t"])


def test_the_commands_take_the_option(tmp_path):
    """Rank and fit print the sentence, and say what was done."""
    write_tables(votes(), tmp_path / "tables")
    apart = invoke("rank", tmp_path / "tables")
    one = invoke("rank", tmp_path / "tables", "--same-answers", "one-cluster")
    fitted = invoke(
        "fit", tmp_path / "tables", "-o", tmp_path / "model.json", "--same-answers", "one-cluster"
    )

    assert "--same-answers one-cluster (same_answers in Python) counts" in apart.stderr
    assert "Each group counts as one person" in one.stderr
    assert fitted.exit_code == 0


def test_an_unknown_option_is_named():
    """In Python, too."""
    with pytest.raises(InputError, match="same_answers is 'once'"):
        prefcal.rank(votes(), same_answers="once")


def test_ballots_and_answers_about_lateness_are_compared_too():
    """The same ticks in ten topics with six intents each, and the same yeses about 40 nuggets."""
    rng = np.random.default_rng(2)
    people = [f"W{number:02d}" for number in range(14)]
    ticks = rng.random((14, 10, 6)) < rng.beta(1, 2, (10, 6))
    useful = rng.random((14, 40)) < rng.beta(3, 2, 40)
    ticks[12:], useful[12:] = ticks[11], useful[11]
    ballots = [
        (person, f"Q{topic}", f"I{intent}")
        for number, person in enumerate(people)
        for topic, intent in np.argwhere(ticks[number]).tolist()
    ]
    answers = [
        (person, "Q0", f"N{nugget}", nugget % 3, bool(useful[number, nugget]))
        for number, person in enumerate(people)
        for nugget in range(40)
    ]
    tables = {
        "intent_votes": pd.DataFrame(ballots, columns=["worker", "topic", "intent"]),
        "lateness": pd.DataFrame(answers, columns=["worker", "topic", "nugget", "visits_late", "useful"]),
    }

    assert {each.table: each.groups for each in find_same_answers(tables)} == {
        "intent_votes": (("W11", "W12", "W13"),),
        "lateness": (("W11", "W12", "W13"),),
    }


@pytest.mark.parametrize(
    ("table", "each", "names"),
    [("preferences", 15, 1), ("importance", 15, 1), ("lateness", 20, 1), ("intent_votes", 30, 2)],
)
def test_few_answers_in_common_are_enough_where_they_are_rare(table, each, names):
    """Of 20 people; a count of equal answers needs twice as many. Without copies nobody is named."""
    for seed in range(3):
        frame = ANSWERS[table](np.random.default_rng([seed, 31]), each)
        own = frame[frame["worker"] == "W19"]
        twice = pd.concat([frame, *(own.assign(worker=f"Z{number}") for number in range(names))])
        (found,) = find_same_answers({table: twice.reset_index(drop=True)})

        assert found.groups == (("W19", "Z0", "Z1")[: names + 1],)
        assert not find_same_answers({table: frame})


def test_an_equal_answer_counts_by_how_rare_it_is():
    """Two people agree on 20 of 20: on answers that all others give, or on ten that nobody else gives."""
    rows = [
        (f"W{person:02d}", "Q0", "i", f"U{unit}", 4.0 if person > 1 or unit < 10 else rare)
        for rare in (4.0, 0.0)
        for person in range(12)
        for unit in range(20)
    ]
    columns = ["worker", "topic", "intent", "iunit", "rating"]
    easy, rare = (pd.DataFrame(half, columns=columns) for half in (rows[:240], rows[240:]))
    (found,) = find_same_answers({"importance": rare})

    assert not find_same_answers({"importance": easy})
    assert (found.groups, found.alike, found.shared) == ((("W00", "W01"),), 20, 20)
    assert found.p_value < 0.001


@pytest.mark.parametrize("apart", [0.2, 1.6])
def test_people_with_points_of_their_own_are_no_copies(apart):
    """They vote by Coombs's model, which no part of the check knows; copies among them are found."""

    def named(seed, **crowd):
        return (
            "same_answers" in fresh_people.votes(np.random.default_rng([seed, 5]), apart=apart, **crowd).names
        )

    assert not any(named(seed) for seed in range(4))
    assert all(named(seed, copies=2) for seed in range(4))
