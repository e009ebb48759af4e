"""`prefcal plan --study`: sizes, minutes and money from a study file; and sentences that noise does not turn."""

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibration.plan.agreement import AgreementDesign
from calibration.plan.search import PrecisionGoal
from calibration.plan.votes import JudgePopulation
from study_app.cli.plan.text import headline, plan_text
from study_app.cli.plan.wording import PersonCost
from tests.study_app.cli.test_cli_plan import QUESTION, of, row
from tests.study_app.prefcal_command import run_here

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FEW = ("--studies", 20, "--width", 1)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `prefcal plan`, which never finds that it takes long."""
    monkeypatch.setattr("study_app.cli.progress.QUIET_SECONDS", math.inf)
    return lambda *arguments: run_here(monkeypatch, capsys, "plan", *arguments)


@pytest.fixture
def study(small_study):
    """Return a function that writes a study of summaries and returns its file."""
    return lambda **task: small_study(task={"workers_per_query": 4} | task)


@pytest.fixture
def asked_alone(monkeypatch):
    """Simulate the size that is asked about and what the wish leads to, and not its half and its double."""
    monkeypatch.setattr("calibration.plan.search.LADDER", (1,))


def flat(text: str) -> str:
    return " ".join(text.split())


# --- from a study file


@pytest.mark.parametrize(
    ("command", "example", "said"),
    [
        ("agreement", "two_layered", "with 8 queries, 21 pairs a query and 14 workers a pair (112 people,"),
        ("difference", "ranked_lists", "with 4 queries, 6 pairs a query and 10 workers a pair (40 people,"),
        ("silence", "push_streams", "with 20 workers, 9 pairs a worker and 3 topics (20 people,"),
        ("away", "two_layered", "with 60 workers, 5 days (60 people)"),
    ],
)
@pytest.mark.usefixtures("asked_alone")
def test_sizes_come_from_the_study_file(command, example, said, run):
    """Each plan takes them from the task that it is about; away has no limit of workers there, so the default stays."""
    ended = run(command, "--study", EXAMPLES / example / "study.yaml", *FEW)

    assert (ended.code, ended.err) == (0, "")
    assert said in flat(ended.out)


def test_an_option_goes_before_the_study_file(run):
    """Wherever it stands on the line."""
    file = EXAMPLES / "two_layered" / "study.yaml"
    ended = run("agreement", "--queries", 10, "--study", file, "--workers", 5, *FEW)

    assert "with 10 queries, 21 pairs a query and 5 workers a pair (50 people," in flat(ended.out)


def test_minutes_and_money_are_those_of_study_check(run, study, monkeypatch, capsys):
    """And every size has its cost, for machines too."""
    file = study()
    file.write_text(file.read_text() + "\nreward: 3\ncurrency: GBP\nplatform_fee: 0.25\n")
    check = run_here(monkeypatch, capsys, "study", "check", file, "--format", "json")
    low, high = json.loads(check.out)["minutes"]
    shown = run("agreement", "--true", 0.4, "--study", file, *FEW)
    machine = run("agreement", "--true", 0.4, "--study", file, *FEW, "--format", "csv")

    assert f"One person is busy with the whole study for {low:.0f} to {high:.0f} minutes" in flat(shown.out)
    assert "cost, GBP" in shown.out
    for one in csv.DictReader(io.StringIO(machine.out)):
        assert float(one["cost"]) == int(one["people"]) * 3.75


def test_minutes_are_left_out_where_one_person_does_other_work(run):
    """The file's minutes are of its own pairs; money is of its reward, which is said."""
    file = EXAMPLES / "two_layered" / "study.yaml"
    ended = run("agreement", "--study", file, "--queries-a-worker", 2, *FEW)

    assert "minutes" not in ended.out
    priced = replace(QUESTION, person=PersonCost(minutes=None, price=2.5, currency="GBP"))
    text = flat(plan_text(of(row(20, 2.0)), priced, PrecisionGoal(width=3.0), seed=1))
    assert (
        "they cost 50.00 GBP, at the reward of the study file, in which one person does other work." in text
    )


def test_people_who_judge_some_pairs_are_more_people(run, study):
    """Three systems make three pairs; with one pair a person three times as many come."""
    whole, part = (
        run("agreement", "--true", 0.4, "--study", study(pairs=pairs), *FEW, "--format", "csv")
        for pairs in ("all", 1)
    )
    of_whole, of_part = (list(csv.DictReader(io.StringIO(ended.out))) for ended in (whole, part))

    assert whole.code == part.code == 0
    for one in of_part:
        pairs = int(of_whole[0]["judgments"]) // int(of_whole[0]["people"])
        assert int(one["people"]) == int(one["judgments"]) >= pairs


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ("silence", "--study", EXAMPLES / "two_layered" / "study.yaml"),
            1,
            "there is no task of kind stream_pairs",
        ),
        (
            ("difference", "--study", EXAMPLES / "ranked_lists" / "study.yaml", "--task", "x"),
            1,
            "there is no such task as x; name one of lists with --task",
        ),
        (("agreement", "--task", "x"), 2, "--task needs --study"),
        (("away", "--study", "nowhere.yaml"), 1, "nowhere.yaml:1: cannot be read"),
    ],
)
def test_a_task_that_is_not_there_is_said_before_the_work(arguments, code, said, run):
    """With what to name instead."""
    ended = run(*arguments)

    assert (ended.code, ended.out) == (code, "")
    assert said in ended.err


# --- several queries a worker


def test_who_judges_several_queries_makes_people_fewer_and_intervals_wider(run):
    """What people like in one query they like in the others, by default too."""
    one, three = (
        list(
            csv.DictReader(
                io.StringIO(
                    run(
                        "agreement",
                        "--queries",
                        12,
                        "--queries-a-worker",
                        n,
                        "--workers",
                        5,
                        *FEW,
                        "--true",
                        0.6,
                        "--format",
                        "csv",
                    ).out
                )
            )
        )
        for n in (1, 12)
    )
    people, crowd = ({int(a["size"]): int(a["people"]) for a in rows} for rows in (three, one))
    wide, narrow = ({int(a["size"]): float(a["width"]) for a in rows} for rows in (three, one))

    assert crowd == {size: 5 * size for size in crowd}
    assert people[12] == 5
    assert people[24] == 10
    assert wide[12] > 1.1 * narrow[12]


def test_nobody_judges_more_queries_than_there_are():
    """Nor a query twice."""
    assert AgreementDesign(queries=4, pairs=3, workers=5, true=0.6, queries_each=9).people() == 5


@pytest.mark.parametrize("each", [1, 12])
def test_the_planned_error_is_the_spread_of_the_studies(each):
    """Also of those in which people with tastes of their own judge all queries: another crowd, another answer."""
    design = AgreementDesign(
        queries=12, pairs=10, workers=6, true=0.55, judges=JudgePopulation(taste_sd=1.0), queries_each=each
    ).ready()
    rng = np.random.default_rng(5)
    found = [design.simulated(rng) for _ in range(150)]
    planned = np.mean([one.standard_error**2 for one in found]) ** 0.5

    assert planned / np.std([one.estimate for one in found]) == pytest.approx(1, abs=0.25)


# --- sentences that noise does not turn


@pytest.mark.parametrize(
    ("power", "needed", "said"),
    [
        (0.95, 20, "Your 20 workers are enough to get a chance of 80 %"),
        (0.84, 20, "Your 20 workers are about what it takes to get a chance of 80 %"),
        (0.76, 40, "Your 20 workers are about what it takes to get"),
        (0.5, 40, "Plan 40 workers"),
    ],
)  # fmt: skip
def test_a_chance_near_the_one_wished_is_called_near(power, needed, said):
    """76 of 100 studies and 84 of 100 are what the same truth gives: neither is enough nor too few."""
    rows = [replace(row(size, 2.0, chance), widths=[2.0] * 100) for size, chance in ((20, power), (40, 0.97))]

    assert headline(of(*rows, needed=needed), QUESTION, PrecisionGoal(power=0.8)).startswith(said)


def test_the_end_of_the_search_is_called_near_too():
    """The largest size may well do."""
    rows = [replace(row(size, 2.0, chance), widths=[2.0] * 100) for size, chance in ((20, 0.3), (40, 0.77))]

    assert headline(of(*rows), QUESTION, PrecisionGoal(power=0.8)) == (
        "Hardly within reach: it takes about 40 workers or more to get a chance of 80 % that the study tells 1 from 2 hours; "
        "with them the chance is between 68 % and 84 %, so far as 100 simulated studies tell."
    )


def test_a_distance_larger_than_there_is_is_none():
    """No two agreements are 1.4 apart: a number there would look like an answer."""
    agreement = replace(QUESTION, unit="", farthest=1.0)
    rows = [
        replace(row(size, 0.5), detectable=far) for size, far in ((20, 1.4), (40, 0.9), (80, float("inf")))
    ]
    text = plan_text(of(*rows), agreement, PrecisionGoal(width=3.0), seed=1)

    assert (
        "With so few workers no distance can be detected: it would have to be 1.4, and no two values are farther apart than 1."
        in flat(text)
    )
    assert "none, of what is detectable: so small a study detects no distance." in text
    lasts = [line.split()[:7] for line in text.splitlines() if line.startswith(("20 ", "40 ", "80 "))]
    assert [cells[6] for cells in lasts] == ["none", "0.9", "none"]


@pytest.mark.usefixtures("asked_alone")
def test_one_of_a_thing_is_not_several(run):
    """1 pair, 1 worker, 1 day, 1 hour, 1 person."""
    away = flat(run("away", "--true", 1, "--days", 1, *FEW).out)

    assert "the 95 % interval of M_A = 1 hour is" in away
    assert "60 workers, 1 day (60 people)" in away
    one = flat(plan_text(of(row(1, 2.0), row(20, 1.0), asked=1), QUESTION, PrecisionGoal(width=3.0), seed=1))
    assert "with 1 worker, 10 days (1 person)" in one
    assert headline(of(row(1, 2.0), asked=1, needed=1), QUESTION, PrecisionGoal(width=3.0)).startswith(
        "Your 1 worker is enough"
    )
