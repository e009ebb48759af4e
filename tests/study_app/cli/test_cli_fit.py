"""What `prefcal fit` prints and writes, option by option."""

import csv
import io
import json
import math
import re

import numpy as np
import pytest

from calibration.fit.families import FitOptions
from calibration.fit.findings import ReportedFinding
from calibration.fit.user_model_fit import fit_user_model
from calibration.models.durations.simulate import ObservationDesign
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.tables.files import read_tables, write_tables
from calibration.user_model.model import (
    PARAMETERS,
    OtherLaw,
    ParameterEntry,
    read_user_model,
    write_user_model,
)
from calibration.user_model.units import other_laws, scales
from study_app.cli.tables.fit_table import by_importance
from tests.calibration.fit.test_fit import study
from tests.study_app.prefcal_command import run_apart, run_here, run_once

COLUMNS = ["name", "estimate", "low", "high", "level", "unit", "method", "workers", "rows"]
PATIENCES = [
    "patience_chars",
    "patience_chars_preferences",
    "patience_chars_stops",
    "patience_chars_grid",
    "patience_chars_spread",
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A folder of tables of a study of summaries, with a study.json."""
    folder = tmp_path_factory.mktemp("study") / "tables"
    write_tables(study(), folder)
    (folder / "study.json").write_text('{"study": "drawn"}')
    return folder


@pytest.fixture(scope="module")
def drawn():
    """All tables there are, of 30 workers."""
    size = SimulatedStudy(workers=30, topics=5, items=10, diary=ObservationDesign(days=7))
    return simulate_study(size, np.random.default_rng(2))


@pytest.fixture(scope="module")
def whole(drawn, tmp_path_factory):
    """A folder of all tables there are."""
    folder = tmp_path_factory.mktemp("whole") / "tables"
    write_tables(drawn, folder)
    return folder


@pytest.fixture(scope="module")
def fitted(tables):
    """How the command ended on the study of summaries, and its folder, in which the model is."""
    folder = tables.parent / "fitted"
    return run_once("fit", tables, "-o", folder / "user-model.json"), folder


@pytest.fixture(scope="module")
def visited(drawn, tmp_path_factory):
    """A folder of what tells times away and sessions, which is soon fitted."""
    folder = tmp_path_factory.mktemp("visited") / "tables"
    write_tables({name: drawn[name] for name in ("workers", "follows", "visits")}, folder)
    return folder


@pytest.fixture(scope="module")
def stopped(drawn, tmp_path_factory):
    """A folder of stops alone, which are fitted soonest."""
    folder = tmp_path_factory.mktemp("stopped") / "tables"
    write_tables({"stops": drawn["stops"]}, folder)
    return folder


@pytest.fixture(scope="module")
def usual(visited, tmp_path_factory):
    """The model of what tells times away and sessions, as it is written without any option."""
    file = tmp_path_factory.mktemp("usual") / "user-model.json"
    fit = fit_user_model(read_tables(visited), seed=1, options=FitOptions(checks=False))
    write_user_model(fit.model, file)
    return read_user_model(file)


@pytest.fixture
def prefcal(monkeypatch, capsys):
    return lambda *arguments: run_here(monkeypatch, capsys, *arguments)


# --- fit


def test_the_model_is_written_and_shown_to_people(fitted, tables):
    """One line of sizes, a table as a paper prints it, at most five warnings, where the rest is, and what to do next."""
    ended, folder = fitted
    model = read_user_model(folder / "user-model.json")

    assert ended.code == 0
    assert re.match(r"drawn: \d+ workers, 6 topics$", ended.out.splitlines()[0])
    header, _, *rows = ended.out.splitlines()[2:]
    assert re.split(r"  +", header) == ["parameter", "estimate", "95 %", "other laws"]
    labels = [re.split(r"  +", row)[0] for row in rows]
    assert labels[:2] == ["patience L", "patience L by stops"]
    assert " chars  " in rows[0]
    assert re.search(
        r"^P\(intent \| query\) +30 intents of 6 topics, in .*probability.tsv$", ended.out, re.MULTILINE
    )
    assert set(PATIENCES) <= set(model.parameters)
    assert "more: prefcal fit --notes, or quality.json." in ended.out
    assert "Workers and raters" not in ended.out
    assert sum(line.startswith("! ") for line in ended.out.splitlines()) <= 5
    last = ended.out.splitlines()[-1]
    assert last == f"Next: prefcal agree {tables} --model {folder / 'user-model.json'} -o results"


def test_people_read_hours_words_a_second_and_shares(prefcal, whole, tmp_path):
    """Three digits, no exponent, the same decimals in a row; machines keep seconds and logarithms."""
    model, ended = model_of(prefcal, whole, tmp_path)
    rows = {re.split(r"  +", line)[0]: re.split(r"  +", line) for line in ended.out.splitlines()}
    away = model.parameters["away_mean_seconds"].estimate

    assert "30 workers" in ended.out.splitlines()[0]
    assert rows["time away, mean"][1] == f"{away / 3600:.{2 if away < 36_000 else 1}f} h"
    assert rows["time away, sd"][1].endswith(" h")
    speed = math.exp(model.parameters["reading_speed_mu"].estimate)
    assert rows["reading speed, median"][1] == f"{speed:.2f} words/s"
    assert rows["lateness decay L"][1].startswith(".")
    assert not re.search(r"\de[+-]\d", ended.out)
    assert not [name for name in PARAMETERS if re.search(rf"^{name}\b", ended.out, re.MULTILINE)]


def finding(name, family="away", sentence="Look.", severity="warning"):
    return ReportedFinding(
        family=family, parameters=(family,), name=name, severity=severity, sentence=sentence
    )


def test_each_family_and_cause_is_warned_of_before_another_is_again():
    """The few workers behind times away came sixth, behind five of patience; one sentence on two parameters is one warning."""
    patience = [finding(name, "patience", name) for name in ("a", "b", "c", "d", "few_topics")]
    away = [finding("few_workers", family, "Few.") for family in ("session", "away")]
    lateness = finding("few_topics", "lateness", "2 topics are few.")
    note = finding("e", "reading", severity="info")

    ordered = by_importance([*patience, *away, lateness, note])

    assert [(group[0].name, len(group)) for group in ordered[:3]] == [
        ("few_workers", 2),
        ("few_topics", 1),
        ("a", 1),
    ]
    assert ordered[1] == [lateness]
    assert len(ordered) == 7


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        ((9.0, 1041.0), "9 to 1,041"),
        ((None, 12.0), "at most 12"),
        ((12.0, None), "at least 12"),
        ((0.0, None), "cannot be told"),
        ((None, None), "no interval"),
    ],
)
def test_an_open_end_is_said_in_words(interval, said):
    """`inf` is no word."""
    entry = ParameterEntry(estimate=958.2, interval=interval, unit="counted characters")

    assert scales({"patience_chars": entry})["patience_chars"].interval(interval) == said


@pytest.mark.parametrize(
    ("estimate", "value", "said"),
    [
        (0.617, 0.6174, ".617"),
        (0.0739, -0.3249, "-.325"),
        (-0.184, -0.1844, "-.184"),
        (0.617, 1e-9, "below .001"),
        (0.617, -1e-9, "above -.001"),
        (0.617, 0.0, ".000"),
        (9.4, 10.06, "10.06"),
        (958.0, 1e300, "over 1,000,000,000"),
        (958.0, None, "no bound"),
    ],
)
def test_a_number_for_people_has_no_exponent_and_is_never_rounded_to_nothing(estimate, value, said):
    """A row has as many decimals as make three digits of its estimate, and three at most."""
    scale = scales({"rbp_p": ParameterEntry(estimate=estimate)})["rbp_p"]

    assert scale.number(value) == said


def test_other_laws_are_the_range_that_differs_visibly():
    """Both ends with the law's name; one that prints the same number is none; an infinite one has no bound."""

    def said(*estimates):
        laws = [
            OtherLaw(law=f"law {number}", estimate=estimate, explains="as well")
            for number, estimate in enumerate(estimates)
        ]
        entry = ParameterEntry(estimate=36_000.0, sensitivity=laws)
        return other_laws(entry, scales({"away_mean_seconds": entry})["away_mean_seconds"])

    assert said(36_001.0) == ""
    assert said(30_000.0, 40_000.0, 50_000.0) == "8.3 (law 0) to 13.9 (law 2)"
    assert said(50_000.0) == "to 13.9 (law 0)"
    assert said(30_000.0) == "from 8.3 (law 0)"
    assert said(30_000.0, None) == "8.3 (law 0) to no bound (law 1)"


@pytest.mark.parametrize("format_", ["csv", "json"])
def test_for_machines_there_is_a_row_a_parameter(format_, prefcal, stopped, tmp_path):
    """And nothing else on stdout: it goes into a program."""
    ended = prefcal("fit", stopped, "-o", tmp_path / "m.json", "--format", format_)
    rows = json.loads(ended.out) if format_ == "json" else list(csv.DictReader(io.StringIO(ended.out)))
    model = read_user_model(tmp_path / "m.json")

    assert [row["name"] for row in rows] == [
        "patience_chars",
        "patience_chars_stops",
        "patience_chars_spread",
        "rbp_p",
    ]
    assert list(rows[0]) == COLUMNS
    assert float(rows[0]["low"]) == pytest.approx(model.parameters["patience_chars"].interval[0])


def test_what_people_voted_and_rated_is_written_for_scoring(fitted):
    """Files of a collection beside the model."""
    written = (fitted[1] / "collection").iterdir()

    assert sorted(path.name for path in written) == ["importance.tsv", "probability.tsv"]


NOT_ASKED = (
    "away_*, session_*, lateness_*, reading_*, patience_chars_preferences, patience_chars_grid, rbp_p, push_*, intents: nothing "
    "to fit them from: these tables have no visits to streams (stream_visits), no reading times (table reads), no judged "
    "summaries (summary_pairs), no ranked lists that somebody read (table stops), no judged push streams (stream_pairs), no votes on intents (intent_votes)"
)


def test_kinds_of_study_that_were_not_run_are_one_line(prefcal, tmp_path):
    """In people's words below the table, or for machines on stderr. The command ends well all the same: the model holds what there is."""
    write_tables({"stops": study()["stops"]}, tmp_path / "tables")
    ended = prefcal("fit", tmp_path / "tables", "-o", tmp_path / "m.json")
    machine = prefcal("fit", tmp_path / "tables", "-o", tmp_path / "m.json", "--format", "csv")

    assert (ended.code, ended.err) == (0, "")
    assert (
        "Not fitted: time away, session, lateness, reading speed, patience by preferences, rbp_p, push weights, P(intent | query)"
        " (no such study)."
    ) in ended.out
    assert machine.err.splitlines() == [NOT_ASKED]
    assert "patience L by stops  " in ended.out
    assert not (tmp_path / "collection").exists()


def test_what_the_tables_could_have_told_is_a_line_of_its_own(prefcal, tmp_path):
    """It says why they do not, and nothing hides it."""
    reads = study()["stops"][["worker", "topic"]].head(2)
    reads = reads.assign(page="p", item="i", kind="update", words=40, dwell_seconds=10)
    write_tables({"reads": reads.drop_duplicates()}, tmp_path / "tables")
    ended = prefcal("fit", tmp_path / "tables", "-o", tmp_path / "m.json")

    [line] = ended.err.splitlines()
    assert line.startswith("reading_speed_mu, reading_speed_sigma: ")
    assert "are needed" in line
    assert "Not fitted: time away, session, lateness, patience by preferences," in ended.out


def test_debug_shows_where_an_unexpected_error_came_from(prefcal, tmp_path, monkeypatch):
    """The command ends well, with all else in the model; without --debug there is one line, and no traceback."""
    write_tables({"stops": study()["stops"], "intent_votes": study()["intent_votes"].head(9)}, tmp_path / "t")
    monkeypatch.setattr("calibration.fit.families.fit_patience", None)
    debug = prefcal("fit", tmp_path / "t", "-o", tmp_path / "m.json", "--debug")
    usual = prefcal("fit", tmp_path / "t", "-o", tmp_path / "m.json")

    line = "patience_chars: an error that prefcal did not expect stopped this: 'NoneType' object is not callable (TypeError);"
    assert usual.code == debug.code == 0
    assert usual.err.startswith(line)
    assert "Traceback" not in usual.err
    assert f"TypeError: 'NoneType' object is not callable\n{line}" in debug.err
    assert read_user_model(tmp_path / "m.json").intents


def test_preferences_without_positions_are_told_how_to_get_them(prefcal, tmp_path):
    """Nobody writes that table by hand; without preferences it would be of no use."""
    write_tables({"preferences": study()["preferences"]}, tmp_path / "tables")
    ended = prefcal("fit", tmp_path / "tables", "-o", tmp_path / "m.json")

    assert (
        "patience_chars_preferences, patience_chars_grid: there is no table positions (prefcal features makes it of a "
        "collection and runs; see prefcal features --help)"
    ) in ended.err.splitlines()


def test_a_model_of_intents_alone_is_not_called_empty(prefcal, tmp_path):
    """It can weight iUnits all the same."""
    write_tables({"intent_votes": study()["intent_votes"]}, tmp_path / "tables")
    ended = prefcal("fit", tmp_path / "tables", "-o", tmp_path / "m.json")

    assert re.search(r"^P\(intent \| query\)  \d+ intents of 6 topics, in ", ended.out, re.MULTILINE)
    assert "empty" not in ended.out


def test_tables_that_tell_nothing_make_a_model_without_parameters(prefcal, tmp_path):
    """Honest, and readable by the next command."""
    write_tables({name: study()[name] for name in ("workers", "preferences")}, tmp_path / "tables")
    ended = prefcal("fit", tmp_path / "tables", "-o", tmp_path / "m.json")

    assert ended.code == 0
    assert "No parameter could be fitted: the model is empty" in ended.out
    assert "Next:" not in ended.out
    assert read_user_model(tmp_path / "m.json").parameters == {}


def test_faulty_tables_are_one_line_a_fault_and_write_nothing(prefcal, tmp_path):
    """Exit 1, nothing on stdout, no half-written model."""
    (tmp_path / "stops.csv").write_text("worker,topic,chars_read,text_chars,reached_end\nw,q,-1,10,no\n")
    ended = prefcal("fit", tmp_path, "-o", tmp_path / "m.json")

    assert (ended.code, ended.out) == (1, "")
    assert [line.partition(": ")[0] for line in ended.err.splitlines()] == [f"{tmp_path}/stops.csv:2"] * 2
    assert not (tmp_path / "m.json").exists()


def test_the_folder_of_the_model_is_made(prefcal, stopped, tmp_path):
    """With all that are missing above it."""
    ended = prefcal("fit", stopped, "-o", tmp_path / "new" / "deep" / "m.json")

    assert ended.code == 0
    assert "patience_chars_stops" in read_user_model(tmp_path / "new" / "deep" / "m.json").parameters


@pytest.mark.parametrize("beside", ["quality.json", "fit-plots.json", "collection"])
def test_what_stands_beside_the_model_needs_its_place_too(beside, prefcal, tables, tmp_path, monkeypatch):
    """It is written last: the work would have been for nothing."""
    monkeypatch.setattr("calibration.tables.files.read_tables", _not_reached)
    if beside == "collection":
        (tmp_path / beside).touch()
    else:
        (tmp_path / beside).mkdir()
    ended = prefcal("fit", tables, "-o", tmp_path / "m.json")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"{tmp_path / beside}:1: this is a ")


def _not_reached(*_, **__):
    raise AssertionError("the work has begun")


def test_exclusion_is_an_option(prefcal, stopped, tmp_path):
    """The rules by default, none on request; anything else is wrong usage."""
    assert prefcal("fit", stopped, "-o", tmp_path / "m.json", "--exclude", "none").code == 0
    assert prefcal("fit", stopped, "-o", tmp_path / "m.json", "--exclude", "some").code == 2


# --- its options


def model_of(prefcal, whole, tmp_path, *options):
    ended = prefcal("fit", whole, "-o", tmp_path / "m.json", *options)
    assert ended.code == 0, ended.err
    return read_user_model(tmp_path / "m.json"), ended


def notes(entry):
    return " ".join(note.sentence for note in entry.diagnostics)


def test_a_whole_study_gives_every_parameter_in_one_call(prefcal, whole, tmp_path):
    """With nothing on stderr: everything could be told; quality stands beside the model."""
    model, ended = model_of(prefcal, whole, tmp_path)

    assert ended.err == ""
    assert list(model.parameters) == [name for name in PARAMETERS if name != "lateness_floor"]
    assert "share of left" not in ended.out
    quality = json.loads((tmp_path / "quality.json").read_text())
    assert quality["format"] == "prefcal-quality/1"
    assert "left_share" in quality["measures"]


def test_notes_say_how_far_judges_agree_in_words_and_three_digits(prefcal, whole, tmp_path):
    """Names of the file mean nothing to people; every measure of quality.json has its row."""
    _, ended = model_of(prefcal, whole, tmp_path, "--notes")
    table = ended.out.partition("workers and raters ")[2].partition("\nNext: ")[0].splitlines()[2:]
    measures = json.loads((tmp_path / "quality.json").read_text())["measures"]

    assert len(table) == len(measures)
    assert not any(name in ended.out for name in measures)
    [row] = [line for line in table if line.startswith("share of left ")]
    low, high = (f"{end:.3f}".removeprefix("0") for end in measures["left_share"]["interval"])
    estimate = f"{measures['left_share']['estimate']:.3f}".removeprefix("0")
    assert f"{estimate} {low} to {high} " in " ".join(row.split()[3:]) + " "


def test_the_same_command_writes_the_same_bytes(fitted, tables, tmp_path):
    """In a process of its own as well; into a pipe it shows no progress, only what was skipped."""
    here, folder = fitted
    apart = run_apart("fit", tables, "-o", tmp_path / "b.json")

    assert (folder / "user-model.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert here.err == apart.err


def test_all_notes_can_be_asked_for_and_stand_in_quality_json(prefcal, stopped, tmp_path):
    """Each cause once: family, parameters, name, severity, sentence and the p-value of its test; warnings first."""
    _, ended = model_of(prefcal, stopped, tmp_path, "--notes")
    findings = json.loads((tmp_path / "quality.json").read_text(encoding="utf-8"))["findings"]

    assert findings
    assert all(f" {finding['sentence']} (" in ended.out for finding in findings)
    assert "prefcal fit --notes" not in ended.out
    assert set(findings[0]) == {"family", "parameters", "name", "severity", "sentence", "p_value"}
    severities = [finding["severity"] for finding in findings]
    assert severities == sorted(severities, reverse=True)


@pytest.mark.parametrize("law", ["away", "away=weibull", "reading=gamma"])
def test_a_law_that_there_is_not_is_wrong_usage(prefcal, stopped, tmp_path, law):
    """Nothing is fitted, and the message shows one that there is."""
    ended = prefcal("fit", stopped, "-o", tmp_path / "m.json", "--law", law)

    assert ended.code == 2
    assert "'away=gamma'" in ended.err
    assert not (tmp_path / "m.json").exists()


def test_another_law_of_the_means_is_published_on_purpose(prefcal, whole, tmp_path):
    """The file says which and its numbers are those of it; sessions stay log-normal. Medians are in the file, not in the table."""
    plain, ended = model_of(prefcal, whole, tmp_path)
    gamma, _ = model_of(prefcal, whole, tmp_path, "--law", "away=gamma")
    drawn = json.loads((tmp_path / "fit-plots.json").read_text())

    assert (plain.laws, gamma.laws) == ({}, {"away": "gamma"})
    assert drawn["options"] == ["--law", "away=gamma"]
    assert gamma.parameters["away_mean_seconds"].method == "marginal likelihood, gamma rates"
    assert gamma.parameters["away_mean_seconds"] != plain.parameters["away_mean_seconds"]
    assert gamma.parameters["session_mean_seconds"] == plain.parameters["session_mean_seconds"]
    assert "away_median_seconds" in plain.parameters
    assert "time away, mean" in ended.out
    assert "median" not in ended.out.replace("speed, median", "").split("\n!")[0]


def test_plots_are_drawn_into_a_folder(prefcal, stopped, tmp_path):
    """Each as PNG for slides and SVG for papers; the folder is made."""
    _, ended = model_of(prefcal, stopped, tmp_path, "--plots", tmp_path / "plots")

    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [
        "patience_chars_stops_survival.png",
        "patience_chars_stops_survival.svg",
        "rbp_p_steps.png",
        "rbp_p_steps.svg",
    ]
    assert f"2 drawings (PNG and SVG) in {tmp_path / 'plots'}." in ended.out


def test_the_level_is_said_above_the_intervals(prefcal, visited, tmp_path):
    """And stands in the model; a level of 1 is wrong usage."""
    model, ended = model_of(prefcal, visited, tmp_path, "--level", "0.9")

    assert re.search(r"estimate +90 %", ended.out)
    assert {entry.level for entry in model.parameters.values()} == {0.9}
    assert prefcal("fit", visited, "-o", tmp_path / "m.json", "--level", "1").code == 2


def test_visits_are_cut_anew_at_a_threshold(prefcal, drawn, tmp_path):
    """Which is said, with what other thresholds would give."""
    names = ("workers", "follows", "visits", "activity")
    write_tables({name: drawn[name] for name in names}, tmp_path / "t")
    model, _ = model_of(prefcal, tmp_path / "t", tmp_path, "--idle-threshold", "120")

    assert "cut from table activity at silences longer than 120 s" in notes(
        model.parameters["away_mean_seconds"]
    )
    assert "With visits cut at silences of 60, 120, 240 s" in notes(model.parameters["session_mean_seconds"])


def test_a_threshold_needs_activity(prefcal, tables, tmp_path):
    """A fault of the input with its cure, and no model."""
    ended = prefcal("fit", tables, "-o", tmp_path / "m.json", "--idle-threshold", "120")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        f"{tables}/activity.csv:1: --idle-threshold cuts visits from table activity, and there is none; "
        "leave out --idle-threshold\n"
    )
    assert not (tmp_path / "m.json").exists()


def test_a_threshold_must_be_longer_than_a_heartbeat(prefcal, drawn, tmp_path):
    """Every visit would fall apart into its beats."""
    write_tables({"activity": drawn["activity"]}, tmp_path / "t")
    (tmp_path / "t" / "study.json").write_text('{"study": "s", "heartbeat_seconds": 15}')
    ended = prefcal("fit", tmp_path / "t", "-o", tmp_path / "m.json", "--idle-threshold", "15")

    assert ended.code == 1
    assert "study.json:1: pages beat every 15 s, so a threshold of 15 s cuts at each; give" in ended.err


@pytest.mark.parametrize(
    "options", [("--inclusion", "at-least-one-visit"), ("--unit", "follow"), ("--bootstrap", "4")]
)
def test_choices_about_visits_move_times_away(options, prefcal, visited, usual, tmp_path):
    """Or their intervals; each is accepted by itself."""
    chosen, _ = model_of(prefcal, visited, tmp_path, *options)

    one, other = (model.parameters["away_mean_seconds"] for model in (chosen, usual))
    if options == ("--unit", "follow"):  # everybody follows one topic here
        assert one.estimate == other.estimate
    else:
        assert (one.estimate, one.interval) != (other.estimate, other.interval)


def test_dropouts_end_at_their_last_sign_of_life(prefcal, drawn, visited, usual, tmp_path):
    """Times away come out shorter then; it needs last_seen_at."""
    cut, _ = model_of(prefcal, visited, tmp_path, "--dropout", "last-seen")
    name = "away_mean_seconds"
    assert cut.parameters[name].estimate < usual.parameters[name].estimate

    follows = drawn["follows"].assign(last_seen_at=None)
    write_tables({"visits": drawn["visits"], "follows": follows}, tmp_path / "t")
    ended = prefcal("fit", tmp_path / "t", "-o", tmp_path / "m.json", "--dropout", "last-seen")
    assert ended.code == 1
    assert "follows.csv:1: nobody has a last_seen_at, by which --dropout last-seen ends a follow" in ended.err


def test_only_who_completed_the_study_counts_on_request(prefcal, visited, tables, tmp_path):
    """Where the tables say who that is."""
    model, _ = model_of(prefcal, visited, tmp_path, "--complete-only")

    assert model.parameters["away_mean_seconds"].workers == 27
    ended = prefcal("fit", tables, "-o", tmp_path / "m.json", "--complete-only")
    assert ended.code == 1
    assert "workers.csv:1: nobody has a completed_at, by which --complete-only counts workers" in ended.err


def test_asking_for_help_imports_no_fit():
    """`prefcal fit --help` answers at once."""
    ended = run_apart("fit", "--help", options=("-X", "importtime"))

    assert ended.code == 0
    assert "Fit every user-model parameter" in ended.out
    assert not [line for line in ended.err.splitlines() if line.endswith((" pandas", " scipy"))]


def test_dwell_times_of_another_unit_are_said_with_the_likely_cause(monkeypatch, capsys, tmp_path):
    """.003 words a second was printed without a word."""
    rows = [f"w{row % 5},q,p{row},i{row},iunit,{10 + row},{(10 + row) * 300}" for row in range(40)]
    header = "worker,topic,page,item,kind,words,dwell_seconds"
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "reads.csv").write_text("\n".join([header, *rows, ""]))

    ended = run_here(monkeypatch, capsys, "fit", tmp_path / "tables", "-o", tmp_path / "user-model.json")

    warning = next(line for line in ended.err.splitlines() if "reads.csv" in line)
    assert warning.startswith("warning: ")
    assert "(median), longer than people need; are these milliseconds? Then it takes 0." in warning
