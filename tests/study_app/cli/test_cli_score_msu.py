"""What `prefcal score msu` prints, and what it says when something is wrong."""

import json

import pytest

from study_app.cli.score.durations import durations
from tests.metrics.event_files import RUN, START, write_updates
from tests.study_app.cli.printed_scores import event_options, score_rows, values
from tests.study_app.prefcal_command import run_here

CROWD = ["--away", "3h,90m", "--session", "120s,1m", "--users", "50"]
TRAILS = {
    "users": [
        {"V": 1.0, "session_away": [[10, 5000], [10, 20000], [1000, 0]]},
        {"V": 2.0, "session_away": [[0.1, 30000], [1000, 0]]},
    ]
}


def parameter(estimate, low=None, high=None, **more):
    return {"estimate": estimate, "interval": [low, high], **more}


PARAMETERS = {
    "away_mean_seconds": parameter(10_800, 9_000, 13_000),
    "away_sd_seconds": parameter(5_400, 4_000, 7_000),
    "session_mean_seconds": parameter(120, 100, 150),
    "session_sd_seconds": parameter(60, 40, 90),
    "reading_speed_mu": parameter(1.29, 1.2, 1.4),
    "reading_speed_sigma": parameter(0.558, 0.5, 0.6),
    "lateness_decay": parameter(0.25, 0.1, 0.4),
}


SLOW = "no reading speed in words per second; the default is used: reading_speed_mu 1.29, reading_speed_sigma 0.558"


@pytest.fixture
def score(monkeypatch, capsys, tmp_path):
    """Score the run of the two small events with options."""
    write_updates(tmp_path)
    (tmp_path / "trails.json").write_text(json.dumps(TRAILS), encoding="utf-8")

    def run(*options, runs=("mine",), **changed):
        files = [*event_options(tmp_path, **changed), *options, *(tmp_path / name for name in runs)]
        return run_here(monkeypatch, capsys, "score", "msu", *files)

    return run


@pytest.fixture
def model(tmp_path):
    """Write a user model with some parameters changed, None for left out; return its path."""

    def write(**changed):
        parameters = {name: one for name, one in {**PARAMETERS, **changed}.items() if one is not None}
        path = tmp_path / "model.json"
        path.write_text(json.dumps({"format": "prefcal-user-model/1", "parameters": parameters}))
        return path

    return write


def test_csv_is_the_documented_table_for_given_trails(score, tmp_path):
    """One user reads everything in time; the other's first visit is too short, so n1 comes one visit late."""
    ended = score(
        "--trails", tmp_path / "trails.json", "--lateness", "0.1", "--lateness", "1", "--format", "csv"
    )
    rows = score_rows(ended)
    assert list(rows[0]) == ["run", "topic", "metric", "value"]
    assert [row["metric"] for row in rows[:6]] == [
        *["MSU@0.1", "MSU-se@0.1", "MSU/s@0.1", "MSU@1", "MSU-se@1", "MSU/s@1"]
    ]
    assert [row["topic"] for row in rows[::6]] == ["TS14.1", "TS14.2", "all"]
    found = values(ended)
    first, second = 2 + 1, 0.1 + 1 + 1
    assert found["TS14.1", "MSU@0.1"] == pytest.approx((first + second) / 2)
    assert found["TS14.1", "MSU@1"] == 3
    assert found["TS14.1", "MSU/s@1"] == pytest.approx(6 / (3 + 4 + 1.5 + 2))
    assert found["TS14.1", "MSU-se@0.1"] == pytest.approx(abs(first - second) / 2)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3h,90m", (10_800, 5_400)),
        ("120s, 0s", (120, 0)),
        ("1.5h,.5m", (5_400, 30)),
        ("2.h,1s", (7_200, 1)),
        ("3h, 0", (10_800, 0)),
        ("3 h,0.0", (10_800, 0)),
    ],
)
def test_durations_are_hours_minutes_or_seconds(text, seconds):
    """A number without its unit would be read wrongly by somebody."""
    assert durations(text) == seconds


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("3h", "'3h' is the mean alone; write the standard deviation over users behind it, such as 3h,90m"),
        ("3,90", "'3' has no unit; write 3h, 3m or 3s"),
        ("3h,90", "'90' has no unit; write 90h, 90m or 90s"),
        ("3x,90m", "'3x' has the unit 'x', which there is not; write 3h, 3m or 3s"),
        ("3 hours,1h", "'3 hours' has the unit 'hours', which there is not; write 3h, 3m or 3s"),
        ("3h,-5", "'-5' is below 0; write a duration such as 3h, or 0"),
        ("-3h,1h", "'-3h' is below 0; write a duration such as 3h, or 0"),
        ("3h,1h,1h", "'3h,1h,1h' is no mean and standard deviation; write two durations such as 3h,90m"),
        ("", "'' is no mean and standard deviation; write two durations such as 3h,90m"),
        ("3h;1h", "'3h;1h' is no duration; write one such as 3h, 90m or 120s"),
        ("h,h", "'h' is no duration; write one such as 3h, 90m or 120s"),
        ("inf,1h", "'inf' is no duration; write one such as 3h, 90m or 120s"),
        ("3h,", "'' is no duration; write one such as 3h, 90m or 120s"),
    ],
)
def test_what_is_wrong_with_other_durations_is_said(score, text, says):
    """With an example of what is right."""
    ended = score("--away", text, "--session", "2m,1m")
    assert ended.code == 2
    assert says in ended.err


def test_a_population_is_simulated_the_same_way_every_time(score):
    """The same command gives the same file; another seed, other users."""
    one = score(*CROWD, "--format", "csv")
    assert values(one)["TS14.1", "MSU@0.5"] > 0
    assert score(*CROWD, "--format", "csv") == one
    assert score(*CROWD, "--seed", "2", "--format", "csv").out != one.out


def test_users_are_printed_one_by_one(score, tmp_path):
    """With a column user before metric, and no standard errors."""
    rows = score_rows(score("--trails", tmp_path / "trails.json", "--per-user", "--format", "csv"))
    assert list(rows[0]) == ["run", "topic", "user", "metric", "value"]
    assert {row["metric"] for row in rows} == {"MSU@0.5", "MSU/s@0.5"}
    assert [row["user"] for row in rows] == ["1"] * 6 + ["2"] * 6
    assert [row["topic"] for row in rows[:6:2]] == ["TS14.1", "TS14.2", "all"]


def test_all_given_users_are_met_whatever_number_is_asked_for(score, tmp_path):
    """They are used as they are, and that is said."""
    ended = score("--trails", tmp_path / "trails.json", "--users", "1", "--per-user", "--format", "csv")
    assert {row["user"] for row in score_rows(ended)} == {"1", "2"}
    assert f"{tmp_path}/trails.json: all its 2 users are met; --users is not looked at\n" in ended.err
    assert "--users" not in score("--trails", tmp_path / "trails.json", "--users", "2").err
    (tmp_path / "trails.json").write_text(json.dumps({"users": TRAILS["users"][:1]}))
    one = score("--trails", tmp_path / "trails.json", "--users", "5")
    assert f"{tmp_path}/trails.json: its user is met; --users is not looked at\n" in one.err


def test_lengths_take_the_place_of_texts(score, tmp_path):
    """Twice the words, half the gain per second."""
    (tmp_path / "lengths.tsv").write_text("query_id\tupdate_id\twords\n1\td1-0\t6\nTS14.1\td2-5\t8\n")
    options = ["--trails", tmp_path / "trails.json", "--format", "csv"]
    plain = values(score(*options, "--lateness", "1"))
    doubled = values(score(*options, "--lateness", "1", "--lengths", tmp_path / "lengths.tsv"))
    assert doubled["TS14.1", "MSU/s@1"] == pytest.approx(plain["TS14.1", "MSU/s@1"] / 2)


def test_a_model_gives_population_and_decay(score, model):
    """As the same numbers in options would; the column shows the fitted decay."""
    fitted = values(score("--model", model(), "--users", "50", "--format", "csv"))
    explicit = values(score(*CROWD, "--lateness", "0.25", "--format", "csv"))
    assert fitted == explicit


def test_people_are_drawn_from_the_law_that_the_model_names(score, model):
    """Other scores than with log-normal means; no other law, and no quantiles, are read."""
    options = ("--users", "50", "--format", "csv")
    plain = values(score("--model", model(), *options))
    path = model()
    written = json.loads(path.read_text())
    path.write_text(json.dumps(written | {"laws": {"away": "gamma"}}))
    drawn = values(score("--model", path, *options))
    path.write_text(json.dumps(written | {"laws": {"away": [1.0, 2.0]}}))
    ended = score("--model", path, *options)

    assert drawn != plain
    assert ended.code == 1
    assert "laws" in ended.err
    assert "Traceback" not in ended.err


def test_a_floor_of_the_model_keeps_late_nuggets_of_some_worth(score, model):
    """MSU is then floor x MSU at L = 1 + (1 - floor) x MSU at the fitted L, and its column says so."""
    options = ("--users", "20", "--format", "csv")
    floored = values(score("--model", model(lateness_floor=parameter(0.2)), *options))
    plain = values(score("--model", model(), "--lateness", "0.25", "--lateness", "1", *options))

    expected = 0.2 * plain["all", "MSU@1"] + 0.8 * plain["all", "MSU@0.25"]
    assert floored["all", "MSU@0.25+0.2"] == pytest.approx(expected)


def test_explicit_options_win_over_the_model(score, model, tmp_path):
    """One by one: times away, sessions, decay, and everything about users if they are given."""
    other = model(
        away_mean_seconds=None,
        away_sd_seconds=None,
        session_mean_seconds=parameter(9),
        lateness_decay=parameter(0.9),
    )
    options = [*CROWD, "--lateness", "0.25", "--format", "csv"]
    assert values(score("--model", other, *options)) == values(score(*options))
    trails = ["--trails", tmp_path / "trails.json", "--format", "csv"]
    assert values(score("--model", model(), *trails)) == values(score("--lateness", "0.25", *trails))


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"lateness_decay": None}, "no lateness_decay; the default is used"),
        ({"reading_speed_mu": None}, SLOW),
        (
            {"reading_speed_mu": parameter(1.29, unit="log characters per second")},
            SLOW,
        ),
    ],
)
def test_what_the_model_lacks_has_a_default_and_that_is_said(score, model, changed, line):
    """A study without late items or reading times can still score."""
    path = model(**changed)
    ended = score("--model", path, "--users", "5", "--format", "csv")
    assert ended.code == 0
    assert ended.err.splitlines()[-1] == f"{path}: {line}"


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"away_sd_seconds": None}, "the model has no away_sd_seconds; say which with --away M,S"),
        ({"session_mean_seconds": parameter(None)}, "session_mean_seconds is infinite; give it a number"),
        ({"lateness_decay": parameter(1.5)}, "lateness_decay is 1.5; it must be from 0 to 1"),
        (
            {"session_mean_seconds": parameter(0.0)},
            "session_mean_seconds must lie in [0.001, 1e+10], got 0.0; mend it in the model or in the options",
        ),
    ],
)
def test_what_has_no_default_is_a_fault_of_the_model(score, model, changed, line):
    """With the option that would do instead."""
    path = model(**changed)
    ended = score("--model", path)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1] == f"{path}:1: {line}"


def test_draws_give_each_score_an_interval(score, model):
    """The population and the decay are drawn anew, 20 times; the users keep their random numbers."""
    rows = score_rows(score("--model", model(), "--users", "40", "--draws", "20", "--format", "csv"))
    assert list(rows[0])[-2:] == ["low", "high"]
    for row in rows:
        assert float(row["low"]) <= float(row["high"])
    msu = next(row for row in rows if row["metric"] == "MSU@0.25" and row["topic"] == "TS14.1")
    assert float(msu["low"]) < float(msu["value"]) < float(msu["high"])


def test_draws_of_the_decay_alone(score, model, tmp_path):
    """Given users do not change: one of five nuggets read comes late, its worth runs from 0.1 to 0.4."""
    options = ["--model", model(), "--trails", tmp_path / "trails.json", "--draws", "400", "--format", "csv"]
    rows = score_rows(score(*options))
    by_key = {(row["topic"], row["metric"]): row for row in rows}
    late = by_key["TS14.1", "MSU@0.25"]
    assert float(late["low"]) == pytest.approx(2.5 + 0.1 / 2, abs=0.02)
    assert float(late["high"]) == pytest.approx(2.5 + 0.4 / 2, abs=0.02)
    assert score_rows(score(*options)) == rows


def test_what_cannot_be_drawn_is_a_fault(score, model):
    """An interval that is open at both ends says nothing about its width."""
    path = model(session_sd_seconds=parameter(60.0))
    ended = score("--model", path, "--draws", "5", "--users", "5")
    assert ended.code == 1
    assert (
        ended.err.splitlines()[-1]
        == f"{path}:1: session_sd_seconds has no interval to draw from; leave out --draws"
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "say who reads"),
        (["--away", "3h,1h"], "say who reads"),
        (["--trails", "trails.json", "--away", "3h,1h"], "leave out --away and --session"),
        ([*CROWD, "--draws", "5"], "--draws needs --model FILE"),
        (["--model", "m.json", "--draws", "5", "--per-user"], "leave out --per-user"),
        (["--model", "m.json", "--trails", "t.json", "--lateness", "0", "--draws", "5"], "nothing to draw"),
        ([*CROWD, "--lateness", "1.1"], "no number from 0 to 1"),
        ([*CROWD, "--lateness", "nan"], "no number from 0 to 1"),
        ([*CROWD, "--users", "0"], "--users"),
        (["--away", "0s,1h", "--session", "1m,1m"], "away_mean_seconds must lie in"),
    ],
)
def test_options_that_contradict_each_other_are_wrong_usage(score, options, reason):
    """Exit 2, before any long computation."""
    ended = score(*options)
    assert (ended.code, ended.out) == (2, "")
    assert reason in ended.err


def test_a_decay_given_twice_is_printed_once(score):
    """Like any other set."""
    rows = score_rows(score(*CROWD, "--lateness", "0.5", "--lateness", "0.50", "--format", "csv"))
    assert len(rows) == 9


def test_updates_before_the_topic_and_after_it(score, tmp_path):
    """The first are read at the first visit, the last by nobody whose visits end with the topic."""
    write_updates(tmp_path, f"1 t r d1 0 {START - 9} 1\n1 t r d2 5 {START + 86_401} 1\n")
    found = values(score("--away", "60s,0s", "--session", "60s,0s", "--users", "20", "--format", "csv"))
    assert found["TS14.1", "MSU@0.5"] == 2


def test_updates_at_other_times_or_without_lengths_are_warned_of(score, tmp_path):
    """In milliseconds everything comes after the event, and nobody reads anything."""
    wrong = [line.split() for line in RUN.splitlines()]
    write_updates(tmp_path, "".join(f"{' '.join(row[:5])} {row[5]}000000 1\n" for row in wrong))
    (tmp_path / "lengths.tsv").write_text("TS14.1\td1-0\t3\n")
    ended = score(*CROWD, "--lengths", tmp_path / "lengths.tsv")
    assert ended.code == 0
    late, unmeasured = (line for line in ended.err.splitlines() if "warning" in line)
    assert late.startswith(
        f"{tmp_path}/mine: warning: 3 of 3 updates about judged topics are from before the event"
    )
    assert late.endswith("; the times are in milliseconds: divide them by 1000")
    assert "warning: 2 of 3 updates about judged topics have no length in the file of lengths" in unmeasured
