"""What a notebook sees: plain frames and paths in, labelled results out, and nothing of it ever dumped."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import prefcal

ROOT = Path(__file__).resolve().parents[2]
NO_TESTS = prefcal.FitOptions(checks=False)
MAX_LINES = 10


@pytest.fixture(scope="module")
def tables():
    """A small study with every family of parameters in it."""
    return prefcal.simulate(prefcal.SimulatedStudy(workers=20, topics=5, items=5), seed=1)


@pytest.fixture(scope="module")
def folder(tables, tmp_path_factory):
    """The same in files."""
    place = tmp_path_factory.mktemp("study") / "tables"
    prefcal.write_tables(tables, place)
    return place


@pytest.fixture(scope="module")
def fitted(tables):
    """All that the tables tell."""
    return prefcal.fit(tables, options=NO_TESTS)


@pytest.fixture(scope="module")
def judged(tables):
    """What people preferred of summaries, and what that rests on."""
    ours = tables["preferences"]["task"] == "summaries"
    names = ("positions", "intents", "workers")
    return {"preferences": tables["preferences"][ours], **{name: tables[name] for name in names}}


@pytest.fixture(scope="module")
def found(judged, fitted):
    """How well measures agree with their preferences."""
    return prefcal.agree(judged, model=fitted)


# One notebook: logs of visits in CSV files, and no folder.


def test_frames_of_read_csv_give_the_same_numbers_as_the_folder(folder):
    """Whoever has a frame need not write a file first; only the hash of the files is missing."""
    names = ("visits", "follows")
    frames = {name: pd.read_csv(folder / f"{name}.csv") for name in names}
    alone = folder.parent / "visits_alone"
    alone.mkdir()
    for name in names:
        (alone / f"{name}.csv").write_bytes((folder / f"{name}.csv").read_bytes())

    of_frames, of_files = (prefcal.fit(given, options=NO_TESTS) for given in (frames, str(alone)))

    pd.testing.assert_frame_equal(of_frames.frame(), of_files.frame())
    assert of_frames.model.tables_sha256 is None
    assert of_files.model.tables_sha256


def test_a_frame_is_checked_as_a_file_is(tables):
    """Table, row, column and cure, of all tables at once; the row as it stands in a CSV below its header."""
    visits = tables["visits"].head(3).assign(end_reason=["left", "closed", "left"])
    with pytest.raises(prefcal.InputError) as error:
        prefcal.fit({"visits": visits, "visit": visits, "stops": tables["stops"].drop(columns="worker")})

    first, second, third = str(error.value).splitlines()
    assert first.startswith("visits:3: end_reason: 'closed' is not known; write one of left,")
    assert second.startswith("visit:1: no such table; use one of activity,")
    assert third.startswith("stops:1: column 'worker' is missing")


@pytest.mark.parametrize("step", [prefcal.fit, prefcal.agree, prefcal.rank])
def test_a_frame_in_place_of_tables_by_name_is_told_the_cure(tables, step):
    """Its columns are no tables."""
    with pytest.raises(prefcal.InputError) as error:
        step(tables["preferences"])
    assert str(error.value) == (
        'a frame was given where tables by name are wanted; give {"preferences": frame} instead of frame'
    )


def test_a_frame_of_another_table_and_a_list_are_told_too(tables):
    """Which table a frame may be, its columns say."""
    with pytest.raises(prefcal.InputError, match=r'give \{"intent_votes": frame\}'):
        prefcal.fit(tables["intent_votes"])
    with pytest.raises(
        prefcal.InputError, match="tables are a folder or frames by name, not list; give a path"
    ):
        prefcal.fit([tables["preferences"]])


def test_the_function_is_told_of_its_arguments_and_not_of_options(judged):
    """Who writes Python has no --scores."""
    votes = judged["preferences"]
    of_pairs = {"preferences": votes}
    with pytest.raises(prefcal.InputError) as error:
        prefcal.agree(of_pairs)
    assert "collection={KIND: PATH}" in str(error.value)
    assert "scores=FRAME" in str(error.value)
    assert "--" not in str(error.value)
    systems, topics = {*votes["system_left"], *votes["system_right"]}, votes["topic"].unique()
    scores = pd.DataFrame(
        [(run, topic, "mine", 0.5) for run in systems for topic in topics],
        columns=["run", "topic", "metric", "value"],
    )
    with pytest.raises(
        prefcal.InputError, match=r"primary, compare: nothing here scores 'M@840'; .*runs=\{NAME"
    ):
        prefcal.agree(of_pairs, scores=scores, compare=["M@840"])
    with pytest.raises(
        prefcal.InputError, match="measures: nothing here scores 'M@preferences'; give model="
    ):
        prefcal.agree(of_pairs, scores=scores, measures=["M@preferences"])


def test_estimates_stand_in_a_labelled_series_and_a_frame(fitted):
    """As statsmodels and lifelines have them."""
    frame = fitted.frame()

    assert list(frame.columns) == ["estimate", "low", "high", "level", "unit", "method", "workers", "rows"]
    assert frame.index.name == "name"
    assert fitted.params["away_mean_seconds"] == frame.loc["away_mean_seconds", "estimate"]
    assert frame.loc["away_mean_seconds", "unit"] == "stream seconds"
    for result in fitted.results.values():
        assert isinstance(result.params, pd.Series)
        assert result.params.to_dict() == dict(result.parameters)
        low, high = result.conf_int()[result.params.index[0]]
        assert result.frame()["low"].iloc[0] == pytest.approx(low)
        assert result.frame()["high"].iloc[0] == pytest.approx(high)
    shares = fitted.intents.frame()
    assert shares["estimate"].groupby("topic").sum().to_numpy() == pytest.approx(1)


def test_an_open_end_is_infinite_as_an_infinite_estimate_is_and_no_interval_is_none():
    """All three are null in user-model.json."""
    entries = {
        "patience_chars": {"estimate": None, "interval": [900.0, None]},
        "push_S_0": {"estimate": 0.1, "interval": [None, 0.5]},
        "push_S_E": {"estimate": 0.1, "interval": [None, None]},
    }
    frame = prefcal.UserModel.model_validate({"parameters": entries}).frame()

    assert frame.loc["patience_chars", ["estimate", "low", "high"]].tolist() == [np.inf, 900, np.inf]
    assert frame.loc["push_S_0", ["low", "high"]].tolist() == [-np.inf, 0.5]
    assert frame.loc["push_S_E", ["low", "high"]].isna().all()


# Another notebook: from preferences to a report.


def test_preferences_and_scores_of_ones_own_give_agreement_and_a_report(tables, tmp_path):
    """Frames of any tool: run, topic, metric, value."""
    preferences = tables["preferences"].query("task == 'summaries'")
    runs = sorted({*preferences["system_left"], *preferences["system_right"]})
    rows = [
        (run, topic, "length", len(run) + n)
        for topic in preferences["topic"].unique()
        for n, run in enumerate(runs)
    ]
    scores = pd.DataFrame(rows, columns=["run", "topic", "metric", "value"])

    found = prefcal.agree({"preferences": preferences}, scores=scores, primary=None)
    scores.to_csv(tmp_path / "scores.csv", index=False)
    of_file = prefcal.agree({"preferences": preferences}, scores=tmp_path / "scores.csv")
    prefcal.write_agreement(found, tmp_path)

    pd.testing.assert_frame_equal(found.agreement, of_file.agreement)
    assert found.frame().loc[("summaries", "length", "against"), "pairs"] == preferences["pair"].nunique()
    assert prefcal.report(tmp_path).read_text(encoding="utf-8").startswith("<!")


def test_a_fault_in_a_frame_of_scores_says_its_row_and_a_missing_column(tables):
    """Row 3 is the second below the header."""
    scores = pd.DataFrame({"run": ["A", None], "topic": "t", "metric": "m", "value": [1.0, 2.0]})
    with pytest.raises(prefcal.InputError, match=r"^scores:3: run is empty; fill it in, or remove the row$"):
        prefcal.read_scores(scores)
    with pytest.raises(
        prefcal.InputError, match="scores:1: there is no column value; scores need run, topic"
    ):
        prefcal.read_scores(scores.drop(columns="value"))


def test_the_model_may_be_a_fit_a_value_or_a_file(judged, fitted, found, tmp_path):
    """All three are the same people."""
    prefcal.write_user_model(fitted.model, tmp_path / "user-model.json")
    for model in (fitted.model, tmp_path / "user-model.json"):
        pd.testing.assert_frame_equal(prefcal.agree(judged, model=model).agreement, found.agreement)


def test_a_measure_is_read_from_its_printed_name_too():
    """`M` as tables print it, `MMeasure` as the class is called."""
    assert prefcal.measure("M(patience=840)") == prefcal.MMeasure(patience=840)
    assert prefcal.measure("MMeasure(patience=840)") == prefcal.MMeasure(patience=840)
    with pytest.raises(prefcal.InputError, match="there is no measure 'Mm'"):
        prefcal.measure("Mm")


# What is one of several, and what is none.

VOTES = pd.DataFrame(
    {
        "worker": ["w1", "w2", "w3"] * 2,
        "task": "lists",
        "topic": ["t1"] * 3 + ["t2"] * 3,
        "system_left": "A",
        "system_right": "B",
        "choice": ["left", "left", "right", "left", "right", "left"],
    }
)
SCORES = pd.DataFrame(
    {"run": ["A", "B"] * 2, "topic": ["t1"] * 2 + ["t2"] * 2, "metric": "m", "value": [1.0, 2.0, 4.0, 3.0]}
)


def sentence(function, *arguments, **named):
    with pytest.raises(prefcal.InputError) as raised:
        function(*arguments, **named)
    return str(raised.value)


@pytest.mark.parametrize(
    ("frame", "cure"),
    [
        (VOTES, 'give {"preferences": frame} instead of frame'),
        (
            VOTES.drop(columns=["task", "choice"]),
            "give {\"preferences\": frame} instead of frame, with the missing columns 'task', 'choice'",
        ),
        (
            SCORES.drop(columns="topic"),
            'give {"preferences": frame}, with the columns of docs/tables.md; this one has run, metric, value',
        ),
    ],
)
def test_a_frame_for_tables_is_told_which_table_it_is_by_most_of_its_columns(frame, cure):
    """Votes without one column were called workers."""
    said = sentence(prefcal.rank, frame)

    assert said.startswith(f"a frame was given where tables by name are wanted; {cure}")
    assert sentence(prefcal.rank, {"preferences": [1]}) == (
        "preferences:1: this is no frame, but list; give a DataFrame"
    )


def test_preferences_need_no_ids_of_pairs():
    """Topic and systems say which pair it is."""
    assert prefcal.rank({"preferences": VOTES}).frame()["win_rate"].round(2).tolist() == [0.67, 0.33]


def test_a_text_for_a_list_of_measures_is_one_sentence():
    """It was taken letter by letter."""
    tables = {"preferences": VOTES}

    for name in ("measures", "compare"):
        said = sentence(prefcal.agree, tables, scores=SCORES, **{name: "nDCG@10"})
        assert said == f"{name} is a text where a list is wanted; pass a list: ['nDCG@10']"
    assert sentence(prefcal.agree, tables, scores=SCORES, primary="mm").startswith(
        "primary is 'mm'; give the names of two"
    )
    assert sentence(prefcal.score_ranked, None, [], "nDCG@10") == (
        "measures is a text where a list is wanted; pass a list: ['nDCG@10']"
    )
    collection = prefcal.read_summary_collection(ROOT / "examples" / "two_layered" / "collection")
    assert sentence(prefcal.score_summaries, collection, [], "M").startswith(
        "measures is a text where a list"
    )
    assert sentence(prefcal.score_summaries, collection, [], prefcal.MMeasure()) == (
        "measures is MMeasure(patience=1500) where a list is wanted; pass a list, also of one"
    )
    assert sentence(prefcal.measure, ["M"]).startswith("['M'] names no measure; give one text")


def test_values_that_no_people_produce_are_a_warning():
    """As the command line says it before it computes."""
    votes = VOTES.assign(worker=["w1", "W1", "w3", "w1", "w2", "w3"], decision_seconds=5321.0)

    with pytest.warns(UserWarning, match="are these milliseconds") as caught:
        prefcal.rank({"preferences": votes})

    assert "preferences: worker 'W1' differs from 'w1' in case only, such as on line 3" in str(
        caught[0].message
    )


def test_a_level_that_is_none_is_one_sentence():
    """95 per cent is .95."""
    said = "level is 95; give a share between 0 and 1, such as 0.95"

    assert sentence(prefcal.rank, {"preferences": VOTES}, level=95) == said
    assert sentence(prefcal.fit, {"preferences": VOTES}, options=prefcal.FitOptions(level=95)) == said


def test_the_package_says_its_version_and_is_a_command():
    """`python -m prefcal` where the command is not on the path."""
    said = subprocess.run(
        [sys.executable, "-m", "prefcal", "--version"], capture_output=True, text=True, check=True
    )

    assert said.stdout == f"prefcal {prefcal.__version__}\n"
    assert prefcal.__version__ == importlib.metadata.version("prefcal")


# Every result prints in short.


def results(fitted, found):
    """One of each kind."""
    planned = prefcal.plan(
        prefcal.AgreementDesign(queries=4, pairs=3, workers=10, true=0.7).ready(),
        "queries",
        prefcal.PrecisionGoal(),
        studies=5,
    )
    return [fitted, fitted.model, fitted.intents, fitted.quality, *fitted.results.values(), found, planned]


def test_every_result_prints_in_ten_lines_and_says_all_by_its_summary(fitted, found):
    """No arrays, no nested classes; what is cut is counted."""
    for result in results(fitted, found):
        for text in (repr(result), str(result)):
            assert len(text.splitlines()) <= MAX_LINES, type(result)
            assert "array(" not in text
            assert "object at 0x" not in text
        begin = result.summary().splitlines()[: MAX_LINES - 1]
        assert repr(result).splitlines()[: MAX_LINES - 1] == begin
        assert len(result.frame())


def test_what_is_cut_from_a_long_result_is_counted(fitted):
    """The last line says how to see the rest."""
    lines = len(fitted.summary().splitlines())

    assert lines > MAX_LINES
    assert repr(fitted).splitlines()[-1] == f"... {lines - MAX_LINES + 1} more lines in .summary()"


def test_every_kind_of_fit_prints_like_that():
    """A family's own class of result would else print its arrays."""
    importlib.import_module("calibration.fit.user_model_fit")
    kinds = prefcal.CalibrationResult.__subclasses__()

    assert len(kinds) >= 7
    assert {kind.__repr__ for kind in kinds} == {prefcal.CalibrationResult.__repr__}


def test_collections_and_runs_print_in_one_line():
    """Name and size."""
    place = ROOT / "examples" / "two_layered"
    collection = prefcal.read_summary_collection(place / "collection")
    run = prefcal.read_summary_run(place / "runs" / "random.xml", collection)

    assert repr(run) == f"Run('random', summaries={len(collection.queries)})"
    assert repr(collection).endswith(f"collection', queries={len(collection.queries)})")


# The package itself.


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code as a notebook in a folder would: what lies there is imported first."""
    code = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(ROOT)!r}]\n{code}"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder
    )


def test_importing_it_imports_nothing_heavy_and_every_name_is_there(tmp_path):
    """Half a second that whoever wants one reader does not pay; star imports and tab completion find all."""
    heavy = "{'numpy', 'pandas', 'scipy', 'numba', 'pydantic', 'flask', 'matplotlib'}"
    ended = python(f"import prefcal; dir(prefcal); print({heavy} & set(sys.modules))", tmp_path)

    assert ended.stdout == "set()\n", ended.stderr
    assert set(prefcal.__all__) <= set(dir(prefcal))
    for name in prefcal.__all__:
        assert getattr(prefcal, name).__doc__, name
    with pytest.raises(AttributeError, match="module 'prefcal' has no attribute 'fitt'"):
        prefcal.fitt  # noqa: B018


def test_every_name_that_a_package_hands_out_is_public():
    """`metrics` and `calibration` hand out their part; a study's steps take frames only here."""
    parts = {
        name for package in ("metrics", "calibration") for name in importlib.import_module(package).__all__
    }

    whole = {"fit", "agree", "plan", "rank", "simulate", "report", "read_verdicts", "judge_requests"}
    whole |= {"import_preferences"}

    assert parts == set(prefcal.__all__) - whole
    measures = {
        cls.__name__ for cls in prefcal.all_measures().values() if cls.__module__.startswith("metrics.")
    }
    assert measures <= set(prefcal.__all__)


@pytest.mark.parametrize("name", ["metrics", "calibration", "study_app"])
def test_a_file_that_hides_a_package_is_named_with_its_cure(name, tmp_path):
    """Not an AttributeError of the wrong module, half an hour later."""
    file = tmp_path / f"{name}.py"
    file.write_text("raise RuntimeError('never run')\n")
    ended = python("import prefcal", tmp_path)

    sentence = f"{file} hides the package {name} of prefcal: rename that file, then start Python again"
    assert ended.stderr.splitlines()[-1] == f"ImportError: {sentence}"


def test_a_folder_that_hides_a_package_is_named_too(tmp_path):
    """One with an __init__.py; without it Python passes it over."""
    (tmp_path / "metrics").mkdir()
    assert python("import prefcal", tmp_path).returncode == 0
    (tmp_path / "metrics" / "__init__.py").touch()

    assert f"{tmp_path / 'metrics'} hides the package metrics" in python("import prefcal", tmp_path).stderr


def test_a_simulated_study_of_few_people_can_be_written(tmp_path):
    """Nobody votes twice on the intents of a topic."""
    prefcal.write_tables(prefcal.simulate(prefcal.SimulatedStudy(workers=8, topics=4), seed=1), tmp_path)
    assert prefcal.read_tables(tmp_path)["intent_votes"]["worker"].nunique() == 8


def test_a_fault_in_a_frame_of_lengths_is_not_said_of_scores(tables):
    """The name is that of the argument."""
    said = sentence(prefcal.agree, tables, lengths=pd.DataFrame({"run": ["a"], "topic": ["t"], "value": [1]}))
    assert said.startswith("lengths:1: there is no column metric; lengths need run, topic, metric, value")
