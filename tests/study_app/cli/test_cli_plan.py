"""What `prefcal plan` prints: the answer first, and nothing that somebody without statistics could not follow."""

import csv
import io
import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from calibration.plan.search import Plan, PrecisionGoal
from calibration.plan.simulation import PlanRow
from study_app.cli import PLAN, cli
from study_app.cli.plan.figure import figure_bytes
from study_app.cli.plan.text import COLUMNS, headline, machine_rows, plan_text
from study_app.cli.plan.wording import PlanWording
from tests.study_app.prefcal_command import run_here

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SMALL = ("--queries", 8, "--pairs", 6, "--workers", 4, "--true", 0.6, "--studies", 20)


TINY = ("--queries", 3, "--pairs", 10, "--workers", 5)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run `prefcal plan`, which never finds that it takes long."""
    monkeypatch.setattr("study_app.cli.progress.QUIET_SECONDS", math.inf)
    return lambda *arguments: run_here(monkeypatch, capsys, "plan", *arguments)


@pytest.fixture
def asked_alone(monkeypatch):
    """Simulate the size that is asked about and what the wish leads to, and not its half and its double."""
    monkeypatch.setattr("calibration.plan.search.LADDER", (1,))


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_the_answer_comes_first_then_the_plan_and_the_table(run):
    """Nobody reads on to find what they asked; and there is no progress bar in a pipe."""
    ended = run("agreement", *SMALL, "--width", 0.2)
    parts = ended.out.split("\n\n")

    assert (ended.code, ended.err) == (0, "")
    assert re.match(r"Plan \d+ queries to get a 95 % interval of an agreement of 60 % that is", parts[0])
    assert parts[1].startswith(
        "As planned, with 8 queries, 6 pairs a query and 4 workers a pair (32 people, 192"
    )
    assert "<- as planned" in parts[2]
    assert "<- enough" in parts[2]
    assert "smallest true distance" in parts[3]
    assert len(ended.out.splitlines()) <= 24
    assert "seed 1" in parts[-1]


def test_a_long_plan_says_now_and_then_that_it_is_at_work(run, monkeypatch):
    """On stderr, so that a pipe gets the same answer; a terminal has a bar instead."""
    quick = run("agreement", *SMALL, "--width", 0.3)
    monkeypatch.setattr("study_app.cli.progress.QUIET_SECONDS", 0.0)
    slow = run("agreement", *SMALL, "--width", 0.3)

    assert slow.out == quick.out
    assert quick.err == ""
    assert slow.err.splitlines()[:2] == [
        "still simulating: 0 studies of 4 queries are done",
        "still simulating: 1 studies of 4 queries are done",
    ]


def test_machines_get_every_size_in_the_same_columns(run):
    """One row a size; `role` says which was asked about and which is enough."""
    ended = run("difference", *SMALL, "--other", 0.5, "--power", 0.3, "--format", "csv")
    found = rows(ended.out)
    roles = {row["role"]: row for row in found}

    assert list(found[0]) == list(COLUMNS)
    assert [int(row["size"]) for row in found] == sorted({int(row["size"]) for row in found})
    assert any("asked" in role for role in roles)
    needed = next(row for role, row in roles.items() if "needed" in role)
    assert float(needed["power"]) >= 0.3
    assert int(needed["people"]) == 4 * int(needed["size"])


def test_the_same_seed_gives_the_same_answer_and_another_another(run):
    """A plan in a proposal can be made again."""
    first, again, other = (
        run("agreement", *SMALL, "--vary", "pairs", "--seed", seed).out for seed in (1, 1, 2)
    )

    assert first == again != other


@pytest.mark.usefixtures("asked_alone")
def test_json_has_null_where_nobody_judges(run):
    """Times away are watched, not judged."""
    ended = run("away", "--workers", 30, "--days", 5, "--studies", 20, "--width", 1.2, "--format", "json")

    assert {row["judgments"] for row in json.loads(ended.out)} == {None}


@pytest.mark.usefixtures("asked_alone")
def test_a_plan_for_silence_and_for_patience_ends_in_an_answer(run):
    """Small ones that ask for little, since these fits take longer."""
    silence = run(
        "silence", "--workers", 20, "--pairs", 8, "--topics", 6, "--studies", 20, "--true", 3, "--width", 30
    )
    patience = run("patience", *TINY, "--studies", 20, "--width", 100_000, "--tell-from", 200)

    assert re.match(r"(Plan|Your) \d+ workers", silence.out)
    assert re.match(r"(Plan|Your) \d+ queries", patience.out)
    assert "The chance that the study tells 1,500 from 200 characters is" in " ".join(patience.out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("agreement", "--width", 0.1, "--power", 0.8), "give one of them"),
        (("agreement", "--power", 0.8), "--power needs --tell-from"),
        (("agreement", "-o", "curve.txt"), ".svg, .pdf, .png"),
        (("patience", "--pairs", 22), "at most 21"),
        (("agreement", "--vary", "topics"), "'queries', 'pairs', 'workers'"),
        (("agreement", "--true", 0.69, "--tell-from", 0.69), "both 0.69: there is nothing to tell apart"),
        (("patience", "--tell-from", 1500), "nothing to tell apart"),
        (("away", "--of", "sd", "--tell-from", 1.5), "nothing to tell apart"),
        (("difference", "--true", 0.7, "--other", 0.7), "nothing to tell apart"),
        (("difference", "--true", 0.65, "--other", 0.69), "the better measure's: swap them"),
        (("silence", "--true", 0), "give a value above 0"),
        (("patience", "--text-chars", 300), "give --text-chars of at least 750"),
    ],
)
def test_what_cannot_be_asked_is_wrong_usage(run, arguments, said):
    """Exit 2, and how to ask."""
    ended = run(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_what_people_cannot_be_is_one_line_with_a_cure(run):
    """Exit 1, nothing on stdout."""
    ended = run("agreement", *SMALL[:6], "--true", 0.97)

    assert (ended.code, ended.out) == (1, "")
    assert re.fullmatch(
        r"no measure can have an agreement of 0\.97 .*; give another agreement.*\n", ended.err
    )


@pytest.mark.parametrize("name", PLAN)
def test_no_option_is_left_unexplained(name):
    """Each has a sentence of help, and a default or a note when it is needed."""
    command = cli.get_command(None, "plan").get_command(None, name)

    assert all(option.help.endswith(".") for option in command.params)


QUESTION = PlanWording(
    subject="the thing",
    unit=" hours",
    digits=1,
    found="tells 1 from 2 hours",
    study="10 days",
    sizes={"workers": ("worker", "workers"), "days": ("day", "days")},
    assumed="nothing",
    helpful=("workers", "days"),
)


def row(size, width, power=0.5):
    return PlanRow(
        size=size,
        people=size,
        judgments=None,
        widths=[width] * 400,
        power=power,
        detectable=width / 2,
        nothing=0.0,
    )


def of(*rows, asked=20, needed=None):
    return Plan(vary="workers", asked=asked, rows=rows, needed=needed)


ROWS = (row(10, float("inf"), 0.2), row(20, 4.0, 0.6), row(40, 2.0, 0.9))


@pytest.mark.parametrize(
    ("needed", "wish", "said"),
    [
        (
            40,
            PrecisionGoal(width=2.0),
            "Plan 40 workers to get a 95 % interval of the thing that is typically at most 2.0 hours wide.",
        ),
        (
            20,
            PrecisionGoal(power=0.5),
            "Your 20 workers are enough to get a chance of 50 % that the study tells",
        ),
        (
            10,
            PrecisionGoal(width=9.0, sure=0.9),
            "in 90 % of studies at most 9.0 hours wide; 10 workers would do.",
        ),
        (
            None,
            PrecisionGoal(width=1.0),
            "even with 40 workers the 95 % interval of the thing is typically 2.0 hours wide, not 1.0 hours.",
        ),
        (
            None,
            PrecisionGoal(power=0.99),
            "the chance that the study tells 1 from 2 hours is 90 %, not 99 %. Change another size",
        ),
    ],
)
def test_the_headline_says_what_to_do(needed, wish, said):
    """Plan more, enough, more than enough, or another size."""
    first = row(10, 8.0, 0.2) if needed == 10 else ROWS[0]
    line = headline(of(first, *ROWS[1:], needed=needed), QUESTION, wish)

    assert said in line
    assert (needed is not None) or line.endswith("--vary days.")


@pytest.mark.parametrize(
    ("widths", "said"),
    [
        ([2.0] * 4, "is typically 2.0 hours wide, in four of five studies at most 2.0 hours."),
        (
            [2.0, 2.0, 2.0, float("inf")],
            "2.0 hours wide, but it is open at one end in more than one of five studies.",
        ),
        ([float("inf")] * 4, "interval of the thing is open at one end in more than half of such studies."),
    ],
)
def test_what_the_plan_as_given_yields_is_said_also_where_nothing_bounds_it(widths, said):
    """An infinite width is no number to print."""
    plan = of(replace(ROWS[1], widths=widths), ROWS[2])

    assert said in " ".join(
        plan_text(plan, QUESTION, PrecisionGoal(width=1.0), seed=1).split("\n\n")[1].split()
    )


def test_an_open_interval_is_said():
    """It has no width to print."""
    text = plan_text(of(*ROWS), QUESTION, PrecisionGoal(width=3.0), seed=1)

    assert "\nopen: the interval has no bound at one end" in text
    assert re.search(r"^10 +10 +open", text, flags=re.MULTILINE)


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_figure_has_the_answer_as_its_title_and_no_date(kind, start):
    """The same plan gives the same bytes."""
    found = of(*ROWS, needed=40)
    wish = PrecisionGoal(width=2.0) if kind == "svg" else PrecisionGoal(power=0.8)
    drawn = figure_bytes(found, QUESTION, wish, kind)

    assert drawn.startswith(start)
    if kind == "svg":
        assert drawn == figure_bytes(found, QUESTION, wish, kind)
        assert b"Plan 40 workers" in drawn


def test_the_curve_is_drawn_where_one_says(run, tmp_path):
    """Beside the answer, not instead of it."""
    ended = run("agreement", *SMALL, "-o", tmp_path / "curve.svg")

    assert ended.out.startswith(("Plan", "Your", "Not"))
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")


def test_a_size_from_few_studies_says_between_what_it_lies():
    """Half of 20 studies may be a quarter or three: one number alone would be noise."""
    few = of(*[replace(one, widths=[2.0] * 20) for one in ROWS], needed=40)

    assert headline(few, QUESTION, PrecisionGoal(power=0.8)) == (
        "Plan 40 workers (between 22 and 58, so far as 20 simulated studies tell) to get a chance of 80 % that the study "
        "tells 1 from 2 hours."
    )
    many = of(*[replace(one, widths=[2.0] * 2000) for one in ROWS], needed=40)
    assert headline(many, QUESTION, PrecisionGoal(power=0.8)).startswith("Plan 40 workers to get")
    assert "and the 40 workers to about 5 %" in " ".join(
        plan_text(many, QUESTION, PrecisionGoal(power=0.8), seed=1).split()
    )


def test_there_is_no_power_where_nothing_is_told_apart():
    """0 would read as a study without a chance; an empty cell as what it is."""
    found = of(*ROWS)

    assert [cells[COLUMNS.index("power")] for cells in machine_rows(found, QUESTION)] == [0.2, 0.6, 0.9]
    nothing = replace(QUESTION, found=None)
    assert {cells[COLUMNS.index("power")] for cells in machine_rows(found, nothing)} == {None}


def test_advice_leads_from_pairs_to_queries_and_never_back(run):
    """More pairs and workers do not tell how things are on other queries; where the search ended too early it is begun with more."""
    of_pairs = run("agreement", *SMALL, "--width", 0.01, "--vary", "pairs")
    of_queries = run("agreement", *SMALL, "--width", 0.05)

    assert "Change another size: --vary queries." in " ".join(of_pairs.out.split())
    begin = re.search(
        r"even with 128 queries .*Begin with more: --queries (\d+)\.", " ".join(of_queries.out.split())
    )
    assert int(begin[1]) > 128


def test_pairs_are_no_more_than_the_systems_of_the_study_make(run):
    """Three systems make three pairs; 48 cannot be."""
    file = EXAMPLES / "ranked_lists" / "study.yaml"
    ended = run("agreement", "--study", file, "--width", 0.01, "--vary", "pairs", "--studies", 20)

    assert "even with 6 pairs a query" in ended.out


def test_more_of_a_size_that_does_not_help_is_not_the_advice(run):
    """The same three people on every query are three, however many queries there are."""
    people = ("--queries-a-worker", 999, "--workers", 3, "--taste", 1.5)
    ended = run("agreement", *SMALL[:4], *SMALL[6:], *people, "--width", 0.01)

    assert "Change another size: --vary workers." in " ".join(ended.out.split())


def test_a_chance_that_cannot_be_had_is_one_sentence(run):
    """No table of numbers that help nobody."""
    ended = run("difference", *SMALL, "--other", 0.599, "--vary", "pairs")

    assert ended.out.startswith(
        "Not within reach: even with 96 pairs a query the chance that the study finds"
    )
    assert "\n\n" not in ended.out


@pytest.mark.parametrize("few", [("--queries", 4), ("--queries-a-worker", 99, "--workers", 3)])
def test_a_study_whose_agree_prints_no_p_is_refused(run, few):
    """It would never tell two measures apart, and the message says what is missing."""
    ended = run("difference", *few)

    assert (ended.code, ended.out) == (1, "")
    assert (
        "with fewer than 5 queries or 4 people prefcal agree prints no p; give more --queries or --workers"
        in (ended.err)
    )


def test_an_agreement_is_never_open_at_one_end(run):
    """It lies between 0 and 1; what a tiny study lacks is the interval."""
    text = " ".join(run("agreement", "--queries", 2, "--pairs", 3, "--studies", 60).out.split())

    assert "open" not in text
    assert "there is no 95 % interval of an agreement of 69 %, since queries or people are too few" in text
    assert "Four of five such studies" not in text
    assert "none, of a width: there is no interval, as where queries or people are too few" in text


@pytest.mark.parametrize(("command", "widest"), [("agreement", 1), ("difference", 2)])
def test_a_width_that_no_interval_has_is_refused(run, command, widest):
    """Else any study would be enough."""
    ended = run(command, "--width", widest + 1)

    assert (ended.code, ended.out) == (2, "")
    assert f"--width {widest + 1}: no such interval is wider than {widest}" in ended.err


def test_a_width_that_says_nothing_is_no_number():
    """16,902 gains are no interval of 0.4."""
    question = replace(QUESTION, widest=100.0)
    text = plan_text(of(row(10, 16_902.5), *ROWS[1:]), question, PrecisionGoal(width=3.0), seed=1)

    assert "16,902" not in text
    assert re.search(r"^10 +10 +open", text, flags=re.MULTILINE)


def test_more_pairs_than_there_are_cannot_be_the_fewest(run):
    """Wrong usage, with the two options named."""
    ended = run("agreement", "--pairs", 5, "--fewest-pairs", 6)

    assert (ended.code, ended.out) == (2, "")
    assert "--fewest-pairs 6 is more than --pairs" in ended.err


def test_a_ranking_is_planned_in_points_of_win_rate(run, asked_alone):
    """Its answer names the distance; pairs that are not all pairs of its systems are refused."""
    small = ("rank", "--queries", 12, "--pairs", 3, "--workers", 4, "--studies", 20)
    ended = run(*small, "--difference", 0.3)

    assert (ended.code, ended.err) == (0, "")
    assert "tells two systems 30 points apart in win rate from each other" in " ".join(ended.out.split())
    assert "two of 3 systems 30 points apart" in " ".join(ended.out.split())
    refused = run(*small, "--pairs", 5)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("5 pairs are not all pairs of any number of systems")
