"""`prefcal agree` and the report say what judges that are no people are worth, with and without measures."""

import pandas as pd
import pytest

import prefcal
from calibration.agree.folder import JUDGES
from calibration.judges.numbers import AXIS, NUMBERS, PEOPLE, TOPICS, standing
from calibration.tables.files import write_tables
from study_app.report.folder import read_material
from study_app.report.parts.methods import limits_section, methods_section
from tests.calibration.judged_summaries import study
from tests.study_app.prefcal_command import run_once, without_pdf

PROMPT = "ab" * 32


def judged_by(tables, name, choose, *, orders=(1, 2)):
    """Return rows of a judge on every pair in both orders; ``choose`` takes left, right and the order."""
    pairs = tables["preferences"].drop_duplicates(["topic", "pair"])[
        ["task", "topic", "pair", "system_left", "system_right"]
    ]
    low = pairs[["system_left", "system_right"]].min(axis=1)
    high = pairs[["system_left", "system_right"]].max(axis=1)
    sides = {1: (low, high), 2: (high, low)}
    rows = [
        pairs.assign(
            worker=name,
            system_left=sides[order][0],
            system_right=sides[order][1],
            choice=[choose(left, right, order) for left, right in zip(*sides[order], strict=True)],
            order=order,
            repeat=1,
            decided_at=f"2026-04-0{order}T10:00:00Z",
        )
        for order in orders
    ]
    return pd.concat(rows, ignore_index=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study with a judge that follows the alphabet, contradicting itself on delta, and one that always takes the left side."""
    tables = study(topics=8, workers=6)
    alphabet = judged_by(
        tables,
        "alphabet",
        lambda left, right, order: "left" if left < right or "delta" in (left, right) else "right",
    )
    leftmost = judged_by(
        tables,
        "leftmost",
        lambda left, right, order: "no_answer" if order == 2 and left == "beta" else "left",
    )
    judges = pd.DataFrame(
        {
            "worker": ["alphabet", "leftmost"],
            "kind": "model",
            "model": ["abc-1", None],
            "prompt_sha256": [PROMPT, None],
        }
    )
    rows = pd.concat([alphabet, leftmost], ignore_index=True)
    rows["judgment"] = [f"v{place}" for place in range(len(rows))]
    rows["decided_at"] = pd.to_datetime(rows["decided_at"])
    people = tables["preferences"]
    made = tmp_path_factory.mktemp("judges")
    write_tables(
        {**tables, "preferences": pd.concat([people, rows], ignore_index=True), "workers": judges},
        made / "tables",
    )
    return made


@pytest.fixture(scope="module")
def result(folder):
    """The folder of results, with what the commands said."""
    said = run_once("agree", folder / "tables", "-o", folder / "results")
    with pytest.MonkeyPatch.context() as patch:
        without_pdf(patch)
        report = run_once("report", folder / "results")
    assert (said.code, report.code) == (0, 0), said.err + report.err
    return folder / "results", said


def test_a_row_and_a_sentence_a_judge_stand_on_the_first_screen(result):
    """Beside one more person, in words that hang on the interval alone."""
    out = result[1].out
    rows = pd.read_csv(result[0] / "judge.csv").set_index("judge")
    for judge, row in rows.iterrows():
        assert f"{judge} agrees with one person in {100 * row['one_person']:.1f} % of 48 pairs" in out
        assert standing(row) in out
    assert rows.loc["leftmost", "contradicts"] == 1
    assert rows.loc["leftmost", "first_chosen"] == 1
    assert rows.loc["leftmost", "unusable"] > 0
    assert rows.loc["alphabet", "contradicts"] == 0.5
    assert rows.loc["alphabet", "orders"] == "both"
    assert (rows.loc["alphabet", "first_at"], rows.loc["alphabet", "last_at"]) == ("2026-04-01", "2026-04-02")


def test_the_tables_have_their_columns_and_the_axis_one_set_of_pairs(result):
    """judge.csv in the order of the documentation; measures and judges on the axis beside people."""
    files = {name: result[0] / file for name, file in JUDGES.items()}
    assert not files.pop("assisted").exists()
    frames = {name: pd.read_csv(file) for name, file in files.items()}
    for name, columns in (("numbers", NUMBERS), ("topics", TOPICS), ("people", PEOPLE), ("axis", AXIS)):
        assert tuple(frames[name].columns) == columns
    axis = frames["axis"]
    assert len(set(axis["pairs"])) == 1
    assert set(axis["kind"]) == {"judge", "measure", "person", "panel", "perfect"}
    assert "M@1500" in set(axis["name"])
    assert frames["people"].groupby("judge").size().tolist() == [6, 6]
    worst = frames["topics"].groupby("judge")["agreement_half"].apply(list)
    assert all(each == sorted(each) for each in worst)


def test_the_report_has_its_section_methods_and_limits(result):
    """What the judge is and how it was asked, and that it is no estimate of what people prefer."""
    page = (result[0] / "report.html").read_text()
    assert 'id="judges"' in page
    assert (
        "to win, it has to be less than 10\N{NARROW NO-BREAK SPACE}% of pairs worse than the person" in page
    )
    assert (result[0] / "figures" / "judges-axis.svg").is_file()
    material = read_material(result[0])
    methods = " ".join(methods_section(material, []).paragraphs)
    assert (
        f"model abc-1, prompt with SHA-256 {PROMPT[:12]}, asked between 2026-04-01 and 2026-04-02" in methods
    )
    assert "in both orders of the sides, a pair up to 1 time" in methods
    assert "model not on record, prompt not on record" in methods
    (limits,) = limits_section(material, [])
    assert "no estimate of what people prefer" in " ".join([limits.title, *limits.paragraphs])


def test_judges_need_no_measure_and_python_has_their_numbers(folder):
    """Where nothing scores the systems the judge is still held against people; with plain frames too."""
    tables = prefcal.read_tables(folder / "tables")
    plain = {name: tables[name] for name in ("preferences", "workers")}
    found = prefcal.agree(plain)
    assert found.agreement.empty
    assert found.judges.numbers["judge"].tolist() == ["alphabet", "leftmost"]
    assert "alphabet agrees with one person" in found.summary()
    assert set(found.judges.axis["kind"]) == {"judge", "person", "panel", "perfect"}
    prefcal.write_agreement(found, folder / "plain")
    assert 'id="judges"' in prefcal.report(folder / "plain").read_text()


def test_lengths_of_shown_sides_come_from_a_file_where_one_is_named(folder, tmp_path):
    """alpha is the longest, then beta: the judge of the alphabet prefers the longer side wherever it decides."""
    tables = prefcal.read_tables(folder / "tables")
    plain = {name: tables[name] for name in ("preferences", "workers")}
    topics = tables["preferences"]["topic"].unique()
    lengths = pd.DataFrame(
        [
            (system, topic, "characters", size)
            for topic in topics
            for system, size in (("alpha", 40), ("beta", 30), ("gamma", 20), ("delta", 20))
        ],
        columns=["run", "topic", "metric", "value"],
    )
    rows = prefcal.agree(plain, lengths=lengths).judges.numbers.set_index("judge")
    assert rows.loc["alphabet", "longer"] == 1
    assert 0 < rows.loc["alphabet", "longer_people"] < 1
    other = lengths.assign(topic="not " + lengths["topic"])
    assert any("no judged side has a length" in note for note in prefcal.agree(plain, lengths=other).notes)


def test_lengths_of_two_metrics_are_refused_and_those_without_a_judge_said(folder, tmp_path):
    """One sentence each; nothing is taken in silence."""
    tables = prefcal.read_tables(folder / "tables")
    lengths = pd.DataFrame(
        [("alpha", "q0", "words", 4), ("alpha", "q0", "characters", 20)],
        columns=["run", "topic", "metric", "value"],
    )
    lengths.to_csv(tmp_path / "lengths.csv", index=False)
    said = run_once("agree", folder / "tables", "--lengths", tmp_path / "lengths.csv", "-o", tmp_path / "out")
    assert said.code == 1
    assert (
        said.err.strip()
        == "lengths:1: 2 metrics (words, characters), and a side has one length; keep the rows of one metric"
    )
    people = tables["preferences"][~tables["preferences"]["worker"].isin(["alphabet", "leftmost"])]
    rest = {name: frame for name, frame in tables.items() if name not in {"workers", "preferences"}}
    found = prefcal.agree(
        {**rest, "preferences": people.drop(columns=["order", "repeat"])}, lengths=lengths[:1]
    )
    assert "lengths are not used: the tables have no verdicts of a judge" in found.notes


def test_without_a_judge_files_of_an_earlier_one_go(folder, tmp_path):
    """The same folder of results, once with judges and once without."""
    tables = prefcal.read_tables(folder / "tables")
    prefcal.write_agreement(prefcal.agree(tables), tmp_path)
    assert (tmp_path / "judge.csv").is_file()
    people = tables["preferences"][~tables["preferences"]["worker"].isin(["alphabet", "leftmost"])]
    rest = {name: frame for name, frame in tables.items() if name not in {"workers", "preferences"}}
    prefcal.write_agreement(
        prefcal.agree(
            {**rest, "preferences": people[people.columns.drop(["order", "repeat"], errors="ignore")]}
        ),
        tmp_path,
    )
    assert not list(tmp_path.glob("judge*.csv"))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.2, "better than one more crowd worker"),
        (-0.2, -0.01, "worse than one more crowd worker"),
        (-0.02, 0.02, "as good as one more crowd worker, and no better"),
        (-0.2, 0.02, "it cannot be distinguished from one more crowd worker"),
        (
            -0.696,
            0.023,
            "8 pairs are too few to tell whether it is better or worse than one more crowd worker",
        ),
        (-0.696, -0.3, "worse than one more crowd worker"),
        (float("nan"), float("nan"), "too few topics or people"),
    ],
)
def test_the_words_hang_on_the_interval_of_the_difference(low, high, words):
    assert words in standing({"difference_low": low, "difference_high": high, "pairs_there": 8})


def test_what_a_judge_was_not_asked_or_nobody_voted_on_is_counted_in_a_note(folder):
    """An order that is missing was not asked, or has no usable answer; a pair may have votes that do not count."""
    tables = prefcal.read_tables(folder / "tables")
    rows = tables["preferences"]
    own = rows[rows["worker"] == "alphabet"]
    first = own.iloc[0]
    is_second = (
        (rows["worker"] == "alphabet")
        & (rows["topic"] == first["topic"])
        & (rows["pair"] == first["pair"])
        & (rows["order"] == 2)
    )
    elsewhere = own.iloc[:1].assign(pair="unseen", system_left="omega", judgment="v-omega")
    changed = pd.concat([rows[~is_second], elsewhere], ignore_index=True)
    notes = prefcal.agree({"preferences": changed, "workers": tables["workers"]}).notes
    assert any(
        note.endswith(
            "alphabet: 1 verdict in one order only, since the other order was not asked or has no usable answer; taken as given"
        )
        for note in notes
    )
    assert any(
        note.endswith(
            "alphabet: 1 of 96 answers are on pairs without a vote of people that counts, and left out"
        )
        for note in notes
    )
