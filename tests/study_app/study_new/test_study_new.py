"""`prefcal study new`: from a folder of files, whatever they are called, to a study file without a fault."""

import bz2
import gzip
import io
import json
import lzma
import math
import re
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from metrics.errors import InputError
from study_app.cli import cli
from study_app.estimate.content import read_whole_study
from study_app.estimate.estimate import estimate
from study_app.protocol.domain import MIN_VALIDATIONS
from study_app.study.standard_texts import UNWRITTEN
from study_app.study_new import compose
from study_app.study_new.compose import comments
from study_app.study_new.recognise import Unknown, recognise
from study_app.tasks.kinds import KINDS
from tests.study_app.small_pictures import SYSTEMS, drawn, file_of, write_large_study, write_picture_study
from tests.study_app.small_pushes import PUSHED, write_push_files
from tests.study_app.small_ranked import RUNS, write_ranked_study
from tests.study_app.small_streams import write_stream_study
from tests.study_app.small_study import write_small_study


def new(*args):
    """Run the command as a script would; faults come as an exception, as `main` gets them."""
    return CliRunner().invoke(cli, ["study", "new", *map(str, args)])


def fault(*args):
    result = new(*args)
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


def written(folder):
    return read_whole_study(folder / "study.yaml")


@pytest.fixture
def summaries(tmp_path):
    """A folder with a MobileClick collection and three runs."""
    folder = tmp_path / "Mobile Click!"
    folder.mkdir()
    write_small_study(folder).unlink()
    return folder


@pytest.fixture
def small_study_file(tmp_path):
    """The small study without its consent."""
    path = write_small_study(tmp_path)
    plain = yaml.safe_load(path.read_text(encoding="utf-8"))
    del plain["consent"]
    path.write_text(yaml.safe_dump(plain), encoding="utf-8")
    return path


WRITERS = {
    "summaries": (write_small_study, ["intent_votes", "summary_pairs"]),
    "ranked": (write_ranked_study, ["ranked_pairs"]),
    "events": (write_stream_study, ["stream_visits"]),
    "pushes": (write_push_files, ["stream_pairs"]),
}


@pytest.mark.parametrize("family", WRITERS)
def test_files_are_told_by_what_is_in_them(tmp_path, family):
    """Names decide nothing but what systems are called: every file gets one that says nothing."""
    write, kinds = WRITERS[family]
    write(tmp_path)
    (tmp_path / "study.yaml").unlink(missing_ok=True)
    for number, path in enumerate(sorted(tmp_path.rglob("*.*"))):
        path.rename(tmp_path / f"{(number * 7) % 13}-file.dat")
    result = new(tmp_path, "--study", "mine")
    assert result.exit_code == 0, result.output
    assert [task.entry.kind for task in written(tmp_path).tasks] == kinds


def test_run_is_no_part_of_a_systems_name(tmp_path):
    """Whatever ending a run file has, workers' tables have the system's name."""
    write_ranked_study(tmp_path).unlink()
    for name in RUNS:
        (tmp_path / f"{name}.txt").rename(tmp_path / f"{name}.run")
    result = new(tmp_path, "--study", "mine")
    assert result.exit_code == 0, result.output
    [task] = written(tmp_path).file.entry.tasks
    assert list(task.systems) == sorted(RUNS)
    assert f"  runs         {', '.join(sorted(RUNS))}\n" in result.stdout


@pytest.mark.parametrize(
    ("family", "kind"),
    [("summaries", "iunit_importance"), ("events", "stream_visits"), ("pushes", "stream_pairs")],
)
def test_other_tasks_can_be_asked_for(tmp_path, family, kind):
    """In the order in which they are named."""
    WRITERS[family][0](tmp_path)
    (tmp_path / "study.yaml").unlink(missing_ok=True)
    assert new(tmp_path, "--task", kind).exit_code == 0
    [task] = written(tmp_path).tasks
    assert task.entry.kind == kind
    assert "no task 'questions' can be made of these files; possible is" in fault(
        tmp_path / "other", tmp_path, "--task", "questions"
    )


def test_the_file_says_every_number_and_what_comes_next(summaries):
    """Nothing is left to look up; workers get prefcal's own introduction; what was recognised is named."""
    result = new(summaries, "--title", "Which: this?", "--platform", "prolific", "--device", "phone")
    study = written(summaries).file.entry
    assert (study.study, study.title, study.platform, study.device) == (
        "mobile-click", "Which: this?", "prolific", "phone",
    )  # fmt: skip
    assert all(task.instructions == "standard" for task in study.tasks)
    assert list(study.tasks[1].systems) == ["sysalpha", "sysbeta", "sysgamma"]
    lines = (summaries / "study.yaml").read_text(encoding="utf-8").splitlines()
    [said] = [line for line in lines if "workers_per_query" in line]
    assert said.split()[:3] == ["workers_per_query:", "14", "#"]
    assert "(Kato et al. 2016, 4.2)" in said
    assert f"  intents      {summaries / 'intents.tsv'}" in result.stdout
    assert f"prefcal study preview {summaries / 'study.yaml'}" in result.stdout


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"questions"}))
def test_every_key_of_a_kind_is_written_with_a_comment(kind):
    """A new number of the protocol makes this fail until it is explained."""
    elsewhere = {"kind", "name", "language", "collection", "systems"}
    assert set(comments(KINDS[kind])) == set(KINDS[kind].entry.model_fields) - elsewhere


def test_a_study_file_is_never_overwritten(summaries):
    """Not even looked into."""
    path = summaries / "study.yaml"
    path.write_text("mine")
    assert f"{path}:1: there is a study already; name another folder" in fault(summaries)
    assert path.read_text() == "mine"


def test_a_study_that_appears_meanwhile_is_left_alone(summaries, monkeypatch):
    """Two who begin at the same time do not overwrite each other."""
    path = summaries / "study.yaml"

    def read_slowly(draft):
        path.write_text("theirs")
        return read_whole_study(draft)

    monkeypatch.setattr(compose, "read_whole_study", read_slowly)
    assert "there is a study already" in fault(summaries)
    assert path.read_text() == "theirs"
    assert not list(summaries.glob(".study*"))


def test_a_file_about_other_queries_is_not_taken_for_theirs(summaries):
    """One id in common is chance."""
    (summaries / "queries.tsv").write_text("SYQ-1\tmount fuji\nQ-7\tlake biwa\nQ-8\tnara deer\n")
    assert "summaries: no file that could be queries" in fault(summaries)


def test_a_fault_of_the_collection_leaves_nothing_behind(summaries, tmp_path):
    """It is named with its line; neither the file nor its folder is there afterwards."""
    with (summaries / "iunits.tsv").open("a", encoding="utf-8") as file:
        file.write("SYQ-9\tSYU-99\tNobody asked\n")
    assert f"{summaries / 'iunits.tsv'}:9: unknown query 'SYQ-9'" in fault(tmp_path / "new", summaries)
    assert not (tmp_path / "new").exists()
    assert "study.yaml:5: study has a form" in fault(tmp_path / "new", summaries, "--study", "My Study")
    assert not list(summaries.glob(".study*"))


@pytest.mark.parametrize(
    ("family", "missing", "said"),
    [
        (
            "summaries",
            "queries.tsv",
            "summaries: no file that could be queries; add one, lines `query TAB text`",
        ),
        ("ranked", "texts.tsv", "ranked: no file that could be texts; add one"),
        ("pushes", "texts.tsv", "pushes: no file that could be texts; add one, lines `tweet_id TAB text`"),
        ("pushes", "sys*", "pushes: there is no run; name the files of your systems too"),
    ],
)
def test_what_a_collection_lacks_is_said(tmp_path, family, missing, said):
    """And how such a file looks."""
    WRITERS[family][0](tmp_path)
    (tmp_path / "study.yaml").unlink(missing_ok=True)
    for path in tmp_path.glob(missing):
        path.unlink()
    assert said in fault(tmp_path)


def test_a_file_that_is_called_like_what_is_missing_is_named(tmp_path):
    """Commas for tabs: it is there, and cannot be read."""
    write_push_files(tmp_path)
    path = tmp_path / "texts.tsv"
    path.write_text(path.read_text(encoding="utf-8").replace("\t", ","), encoding="utf-8")
    assert (
        f"no file that could be texts ({path} is called so, but does not fit; where TAB stands, one tab"
        in fault(tmp_path)
    )


def test_of_two_judgments_nothing_else_is_called_missing(tmp_path):
    """Topics are told by the ids of the judgments, so they cannot be found before it is clear which these are."""
    write_ranked_study(tmp_path)
    (tmp_path / "study.yaml").unlink(missing_ok=True)
    [qrels] = tmp_path.glob("qrels*")
    (tmp_path / "again.txt").write_bytes(qrels.read_bytes())
    found = fault(tmp_path)
    assert "could both be qrels" in found
    assert "no file that could be" not in found


def test_a_new_study_of_pushes_repeats_some_pairs(tmp_path):
    """Else min_consistency could leave nobody out."""
    write_push_files(tmp_path, {**PUSHED, "third": PUSHED["sysslow"]})
    assert new(tmp_path).exit_code == 0
    [task] = written(tmp_path).tasks
    assert task.entry.validation_pairs == MIN_VALIDATIONS


def test_limits_fit_the_pairs_there_are(tmp_path):
    """Two systems and two profiles are two pairs: nobody can judge ten of them, nor three once more; and check finds nothing to say but that topics are few."""
    write_push_files(tmp_path)
    assert new(tmp_path, "--contact", "Ann", "--keep", "until 2030").exit_code == 0
    [task] = written(tmp_path).tasks
    entry = task.entry
    assert (entry.pairs_per_worker, entry.validation_pairs, entry.min_consistency) == (2, 0, 0)
    checked = CliRunner().invoke(cli, ["study", "check", str(tmp_path / "study.yaml")]).output
    [said] = checked.split("Look at this\n")[1].split("\n\n")[0].splitlines()
    assert said.startswith("  notifications: 2 topics with pairs: there are no intervals with fewer than 4")


def test_of_two_runs_a_worker_judges_several_queries_and_repeats_none(tmp_path):
    """Each has one pair; coming for one pair is worth nobody's while. A repeat comes after another pair, so there is none."""
    lists = Path(__file__).parents[3] / "examples" / "plain_lists"
    assert new(tmp_path / "lists", lists / "collection", lists / "runs").exit_code == 0
    [task] = written(tmp_path / "lists").tasks
    assert (task.entry.queries_per_worker, task.entry.validation_pairs) == (2, 0)


def test_the_consent_says_how_long_it_takes_and_what_is_paid(summaries):
    """As long as `study check` estimates; the reward stands in the study file too, and the check says so where the two differ."""
    given = ("--contact", "Ann", "--keep", "until 2030", "--reward", "2.5", "--currency", "EUR")
    assert new(summaries, *given).exit_code == 0
    content = written(summaries)
    entry = content.file.entry
    seconds = estimate(content).seconds
    minutes = f"{math.floor(seconds.low / 60)} to {math.ceil(seconds.high / 60)} minutes"
    assert f"It takes about {minutes}." in entry.consent
    assert "What you are paid: 2.50 EUR for all of it." in entry.consent
    assert (entry.reward, entry.currency) == (2.5, "EUR")
    path = summaries / "study.yaml"
    path.write_text(path.read_text().replace("reward: 2.5 ", "reward: 3.5 "))
    checked = CliRunner().invoke(cli, ["study", "check", str(path)]).output
    assert "the consent text names another amount than reward: 3.50 EUR, which the page adds" in checked
    assert "the page adds: You are paid 3.50 EUR for all of it." in checked


def test_a_diary_says_over_how_many_days_it_goes(tmp_path):
    """In Japanese too; without a reward the consent leaves pay to the place where people found the study."""
    write_stream_study(tmp_path).unlink()
    assert new(tmp_path, "--language", "ja").exit_code == 0
    consent = (tmp_path / "study.yaml").read_text(encoding="utf-8")
    assert re.search(r"所要時間は\d+日間にわたり、合計で約\d+(～\d+)?分です。", consent)
    assert "お支払いするもの：この調査を見つけたサイトに記載された金額。" in consent


def test_two_files_that_could_both_be_meant_are_named(summaries):
    """Nobody guesses which query texts people will see."""
    (summaries / "other.tsv").write_bytes((summaries / "queries.tsv").read_bytes())
    found = fault(summaries)
    assert (
        f"summaries: {summaries / 'other.tsv'} and {summaries / 'queries.tsv'} could both be queries" in found
    )


def test_places_without_a_collection_are_faults(tmp_path):
    """A folder that is not there, one with nothing in it, and something else."""
    assert "nope:1: there is no such file or folder" in fault(tmp_path, tmp_path / "nope")
    (tmp_path / "notes.txt").write_text("Only some words.\n")
    assert "nothing of a collection among 1 files" in fault(tmp_path)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_study_goes_live_with_a_consent_that_is_not_written(summaries, tmp_path, language):
    """Only the researcher knows who asks, and how long what is kept; it can be looked at before that."""
    assert new(summaries, "--language", language).exit_code == 0
    path = summaries / "study.yaml"
    [word] = [word for word in UNWRITTEN if word in path.read_text(encoding="utf-8")]
    lines = [
        n for n, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1) if word in text
    ]
    assert len(lines) == 2
    load = ["load", "--database", f"sqlite:///{tmp_path / 'new.sqlite3'}"]
    for command in (["check"], load):
        refused = CliRunner().invoke(cli, ["study", *command, str(path)]).exception
        assert [fault.line for fault in refused.faults] == lines
        assert f"the consent text still has {word}" in str(refused)
    assert not (tmp_path / "new.sqlite3").exists()
    assert written(summaries)
    path.write_text(path.read_text(encoding="utf-8").replace(word, "Ann Lab."), encoding="utf-8")
    for command in (["check"], load):
        assert CliRunner().invoke(cli, ["study", *command, str(path)]).exit_code == 0


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_only_the_researcher_knows_can_be_said_at_once(summaries, language):
    """Then the file passes the check as it is."""
    said = new(
        summaries, "--language", language, "--contact", "Ann: {a}\nann@example.org", "--keep", "until 2030."
    )
    assert said.exit_code == 0
    assert "The check waits" not in said.output
    consent = written(summaries).file.entry.consent
    assert "Ann: {a} ann@example.org" in consent
    assert "until 2030." in consent.replace("。", ".")
    assert CliRunner().invoke(cli, ["study", "check", str(summaries / "study.yaml")]).exit_code == 0


def test_a_folded_consent_is_read_as_workers_would(small_study_file):
    """The words may stand on two lines of the file; other keys are none of this."""
    small_study_file.write_text(
        "consent: >\n  Ask WRITE\n  HERE.\n"
        + small_study_file.read_text(encoding="utf-8")
        + "# WRITE HERE\n",
        encoding="utf-8",
    )
    refused = CliRunner().invoke(cli, ["study", "check", str(small_study_file)]).exception
    assert [fault.line for fault in refused.faults] == [1]


def test_an_unwritten_consent_is_named_with_all_other_faults(summaries):
    """Everything at once, as everywhere."""
    assert new(summaries).exit_code == 0
    (summaries / "queries.tsv").unlink()
    refused = CliRunner().invoke(cli, ["study", "check", str(summaries / "study.yaml")]).exception
    assert "WRITE HERE" in str(refused)
    assert "queries.tsv" in str(refused)


def test_files_elsewhere_are_named_relative_to_the_study(summaries, tmp_path):
    """The folder is made; nothing is copied."""
    assert new(tmp_path / "studies" / "one", summaries).exit_code == 0
    plain = yaml.safe_load((tmp_path / "studies" / "one" / "study.yaml").read_text(encoding="utf-8"))
    assert plain["tasks"][0]["collection"]["queries"] == "../../Mobile Click!/queries.tsv"


def test_japanese_texts_make_a_japanese_study(summaries):
    """Pages, criteria and consent are in the language of the texts."""
    path = summaries / "queries.tsv"
    path.write_text("SYQ-1\t富士山に登る\nSYQ-2\t緑茶のいれ方\n", encoding="utf-8")
    assert new(summaries).exit_code == 0
    study = written(summaries).file.entry
    assert {task.language for task in study.tasks} == {"ja"}
    assert "参加は自由です" in study.consent


def test_sona_needs_an_address_that_only_the_researcher_knows(summaries):
    """Asked for on a terminal, an option elsewhere."""
    assert "platform sona needs an address to return to; --return-url" in fault(
        summaries, "--platform", "sona"
    )
    url = "https://example.org/credit?survey_code={id}"
    assert new(summaries, "--platform", "sona", "--return-url", url).exit_code == 0
    assert written(summaries).file.entry.return_url == url


def test_on_a_terminal_little_is_asked(summaries, monkeypatch):
    """Tasks, language, platform, name, device and what belongs into the consent, each with a default; Enter takes it."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal("iunit_importance\n\n\nratings\n\nAnn Lab\n\n"))
    cli.main(["study", "new", str(summaries)], standalone_mode=False)
    study = written(summaries).file.entry
    assert study.study == "ratings"
    assert study.consent.startswith("WHO ASKS: Ann Lab\n")
    assert "WRITE HERE for how long" in study.consent
    assert [task.kind for task in study.tasks] == ["iunit_importance"]


NO_PART = {
    "image.dat": (bytes(range(256)), "no text in UTF-8"),
    "cut.gz": (b"\x1f\x8bno", "cannot be read (Compressed file ended"),
    "wide.txt": ("q1\tone\n".encode("utf-16"), "this is text in UTF-16"),
    "book.xlsx": (b"PK\x03\x04xl/workbook.xml", "this is a spreadsheet"),
    "numbers.json": (b"[1, 2]", "JSON, no form of answers, pictures, topics or texts that is known"),
    "labels.json": (b'[{"id": 1, "annotations": []}]', "JSON with the members id, annotations, no form of answers"),
    "charts.jsonl": (b'{"topic": "rain", "picture": "rain.png"}', "JSON with the members topic, picture, no form of answers, pictures, topics or texts that is known; a picture has topic, image and perhaps alt"),
    "page.html": (b"<html></html>", "XML or HTML without <results>, <events> or <top>"),
    "empty.txt": (b"\n", "an empty file"),
    "votes.pref": (b"q1 d1 d2 d2\nq1 d3 d2 d3\n", "preferences with their winner, which prefcal convert lines-to-tables reads"),
    "votes.csv": (b"q;w;a;b\n1;2;3;4\n", "a CSV (fields separated by semicolons), which prefcal import reads where it holds preferences"),
    "cut.txt": (b"q1 Q0 d1 1 9 t\nq1 Q0 d3 2 8 t\nq1 Q0 d2\n", "lines of 3 to 6 fields separated by blanks, which no file of a collection has; 2 of the first 3 are like a run of ranked lists"),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_PART)
def test_what_plays_no_part_says_why(tmp_path, summaries, name):
    """Beside a collection that is whole, and where nothing is: one line a file."""
    content, why = NO_PART[name]
    (tmp_path / name).write_bytes(content)
    found = recognise(tmp_path / name)
    assert isinstance(found, Unknown)
    assert why in found.why
    assert f"{name}:1: not used: " in fault(tmp_path / "alone", tmp_path / name)
    result = new(tmp_path / "mine", summaries, tmp_path / name)
    assert result.exit_code == 0, result.output
    assert f"not used:\n  {tmp_path / name}: {why}" in result.output


def test_a_readme_beside_the_files_is_no_file_that_was_not_used(summaries):
    """It says what is in the folder; named by itself it is looked at like any other."""
    (summaries / "README.md").write_text("What is in here.\n")
    assert f"{summaries / 'README.md'}:1: not used: " in fault(summaries, summaries / "README.md")
    result = new(summaries)
    assert (result.exit_code, "not used" in result.output) == (0, False)


def test_a_file_that_is_known_and_goes_with_no_other_says_so(tmp_path):
    """Topics of another year, say."""
    write_ranked_study(tmp_path).unlink()
    (tmp_path / "old.tsv").write_text("X-1\tan old query\nX-2\tanother\n")
    result = new(tmp_path, "--study", "mine")
    assert (
        f"{tmp_path / 'old.tsv'}: lines of an id and a text, whose ids such as 'X-1' go with no other file here"
        in result.output
    )


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_packed_files_are_looked_into(tmp_path, pack):
    """As the readers do."""
    (tmp_path / "run").write_bytes(pack(b"q1 Q0 d1 1 9 t\n"))
    assert recognise(tmp_path / "run").form == "ranked run"


def test_a_folder_of_beir_becomes_a_study(tmp_path):
    """queries.jsonl, corpus.jsonl and qrels with their header, as they are."""
    (tmp_path / "qrels").mkdir()
    files = {
        "corpus.jsonl": '{"_id": "d1", "title": "T", "text": "some text", "metadata": {}}\n{"_id": "d2", "title": "", "text": "more"}\n',
        "queries.jsonl": '{"_id": "q1", "text": "a query", "metadata": {}}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
        "one.run": "q1 Q0 d1 0 2.5e-01 beir\n",
        "two.run": "q1 Q0 d2 0 9e+00 beir\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert new(tmp_path, "--study", "mine").exit_code == 0
    [task] = written(tmp_path).tasks
    assert dict(task.entry.collection) == {
        "topics": "queries.jsonl", "texts": "corpus.jsonl", "qrels": "qrels/test.tsv", "windows": None, "intents": None,
    }  # fmt: skip
    assert [topic.text for topic in task.topics] == ["a query"]
    assert task.sides["q1", "one"].blocks[0].title == "T"


TRACKS = {  # guidelines 1.0 of 2024-07-19; of 2025-06-27; RAGTIME 2025 and NeuCLIR 2024 as auto-judge-base d58f174 reads them
    "RAG 2024": [{"run_id": "r", "topic_id": "t-1", "topic": "Why?", "references": ["d#1", "d#2"], "response_length": 3,
                  "answer": [{"text": "So it is.", "citations": [1]}, {"text": "And so.", "citations": [0, 1]}]}],
    "RAG 2025": [{"metadata": {"run_id": "r", "narrative_id": "t-1", "narrative": "Why?"}, "references": ["d#1", "d#2"],
                  "answer": [{"text": "So it is.", "citations": [1]}, {"text": "And so.", "citations": [0, 1]}]}],
    "RAGTIME": [{"metadata": {"run_id": "r", "topic_id": "t-1"},
                 "responses": [{"text": "So it is.", "citations": {"d#2": 0.9}}, {"text": "And so.", "citations": {"d#1": 0.5, "d#2": 0.4}}]}],
    "NeuCLIR": [{"metadata": {"run_id": "r", "topic_id": "t-1"}, "documents": {},
                 "responses": [{"text": "So it is.", "citations": ["d#2"]}, {"text": "And so.", "citations": ["d#1", "d#2"]}]}],
    # guidelines of 2025; 2025 starter kit 03dd7a8
    "DRAGUN": [{"metadata": {"team_id": "t", "run_id": "r", "topic_id": "t-1", "type": "automatic", "use_starter_kit": 1},
                "responses": [{"text": "So it is.", "citations": ["d#2"]}, {"text": "And so.", "citations": ["d#1", "d#2"]}]}],
}  # fmt: skip


@pytest.mark.parametrize("track", TRACKS)
@pytest.mark.parametrize("form", ["lines", "list"])
def test_answers_of_tracks_become_a_study(tmp_path, track, form):
    """Sentences become a text with marks, and what they cite its sources, by their ids where nobody gave texts."""
    answers = TRACKS[track]
    (tmp_path / "topics.tsv").write_text("t-1\tWhy?\n")
    for name in ("one", "two"):
        text = (
            "".join(json.dumps(one) + "\n" for one in answers)
            if form == "lines"
            else json.dumps(answers, indent=1)
        )
        (tmp_path / f"{name}.jsonl").write_text(text)
    result = new(tmp_path, "--study", "mine")
    assert result.exit_code == 0, result.output
    [task] = written(tmp_path).tasks
    assert task.entry.kind == "answer_pairs"
    block, first, second = task.sides["t-1", "one"].blocks
    marks = {"[1][2]", "[2][1]"}
    assert block.text in {f"So it is. [1] And so. {mark}" for mark in marks}
    assert [(one.text, one.inside[0].text) for one in (first, second)] == [
        ("[1]", "d#2"),
        ("[2]", "d#1"),
    ]
    assert "one: 2 cited sources without a text, shown by their id" in task.notes


def test_articles_of_pubmed_are_sources_by_their_numbers(tmp_path):
    """As in TREC BioGen 2025, task B (starter kit f5d45fc): a number is a place only where there are references."""
    answer = {
        "metadata": {"team_id": "t", "run_id": "r", "topic_id": "t-1"},
        "responses": [{"text": "So it is.", "citations": [31562322, 2]}, {"text": "So.", "citations": ["7"]}],
    }
    (tmp_path / "topics.json").write_text(
        '[{"id": 1, "question": "Why?"}, {"id": "t-1", "topic": "x", "question": "How?", "narrative": "Long."}]'
    )
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(answer) + "\n")
    assert new(tmp_path, "--study", "mine").exit_code == 0
    [task] = written(tmp_path).tasks
    assert [topic.text for topic in task.topics] == ["How?"]
    _, *sources = task.sides["t-1", "one"].blocks
    assert [source.inside[0].text for source in sources] == ["31562322", "2", "7"]


def test_answers_that_a_run_grounded_have_what_supports_them_as_sources(tmp_path):
    """As in TREC BioGen 2025, task A (its validation script): what contradicts a sentence is no source of it."""
    for name, found in (("one", [2, 3]), ("two", [])):
        sentence = {
            "text": "So it is.",
            "existing_supported_citations": [1],
            "supported_citations": found,
            "contradicted_citations": [4],
        }
        answer = {"metadata": {"run_name": name, "qa_id": "116"}, "answer": [sentence]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps([answer]))
    (tmp_path / "asked.json").write_text(
        '[{"qa_id": "116", "question": "How?"}, {"qa_id": "9", "question": "Why?"}]'
    )
    result = new(tmp_path, "--study", "mine")
    assert result.exit_code == 0, result.output
    [task] = written(tmp_path).tasks
    assert [topic.text for topic in task.topics] == ["How?"]
    for name, sources in (("one", ["1", "2", "3"]), ("two", ["1"])):
        block, *cited = task.sides["116", name].blocks
        assert block.text == "So it is. " + "".join(f"[{label}]" for label in sources)
        assert [source.inside[0].text for source in cited] == sources


SEGMENTS = [
    {"docid": "d#2", "url": "https://x", "title": "Two", "headings": "h", "segment": "It is two.", "start_char": 1, "end_char": 9},
    {"docid": "d#9", "url": "https://x", "title": "Nine", "headings": "h", "segment": "It is nine.", "start_char": 1, "end_char": 9},
]  # fmt: skip


@pytest.mark.parametrize("pack", [None, gzip.compress])
def test_texts_of_cited_segments_are_shown_with_blocks_of_topics(tmp_path, pack):
    """MS MARCO V2.1 segments (TREC RAG 2024, guidelines 1.0); <top> topics; a source without a text is counted."""
    (tmp_path / "topics.txt").write_text(
        "<top>\n<num> Number: t-1\n<title> why\n<desc> Description:\nSay why it\nis so.\n<narr> Narrative:\nAny.\n</top>\n"
    )
    segments = "".join(json.dumps(one) + "\n" for one in SEGMENTS).encode()
    (tmp_path / "segments.json.gz").write_bytes(segments if pack is None else pack(segments))
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(TRACKS["RAG 2024"][0]) + "\n")
    result = new(tmp_path, "--study", "mine")
    assert result.exit_code == 0, result.output
    [task] = written(tmp_path).tasks
    assert task.entry.collection.texts == "segments.json.gz"
    assert [topic.text for topic in task.topics] == ["why: Say why it is so."]
    _, first, second = task.sides["t-1", "one"].blocks
    assert (first.text, first.inside[0].text) == ("[1] Two", "It is two.")
    assert (second.text, second.inside[0].text) == ("[2]", "d#1")
    assert "one: 1 cited source without a text, shown by its id" in task.notes


def test_judgments_of_answers_are_found_beside_them(tmp_path):
    """Nuggets and support of the answers, told by what is in them."""
    (tmp_path / "topics.tsv").write_text("t-1\tWhy?\n")
    for name in ("one", "two"):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(TRACKS["RAG 2024"][0]) + "\n")
    nugget = {"text": "n", "importance": "vital", "assignment": "support"}
    (tmp_path / "x.jsonl").write_text(json.dumps({"qid": "t-1", "run_id": "r", "nuggets": [nugget]}) + "\n")
    sentence = {"citations": [{"support": "1"}]}
    (tmp_path / "y.jsonl").write_text(
        json.dumps({"topic_id": "t-1", "run_id": "r", "sentences": [sentence]}) + "\n"
    )
    assert new(tmp_path, "--study", "mine").exit_code == 0
    [task] = written(tmp_path).tasks
    assert (task.entry.collection.nuggets, task.entry.collection.support) == ("x.jsonl", "y.jsonl")
    said = "will give no measure: one, two are all called r by their run_id; give each run its own"
    assert [note for note in task.notes if said in note]


def test_files_that_name_pictures_become_a_study(tmp_path):
    """Whatever they are called; the pictures that they name, however many, are no files of their own."""
    write_large_study(tmp_path, 6).unlink()
    (tmp_path / "topics.tsv").rename(tmp_path / "wishes")
    result = new(tmp_path)
    assert result.exit_code == 0, result.output
    assert "images:\n  topics" in result.output
    assert "not used" not in result.output
    (task,) = written(tmp_path).tasks
    assert (task.entry.kind, list(task.entry.systems), task.entry.validation_pairs) == (
        "image_pairs",
        [*SYSTEMS],
        3,
    )
    assert len(task.sides) == 18
    assert "you compare pairs of pictures" in written(tmp_path).file.entry.consent


def write_pictures(folder):
    """Write topics and a folder of pictures a system, and no file that names them."""
    write_picture_study(folder).unlink()
    for system in SYSTEMS:
        (folder / f"{system}.jsonl").unlink()


def test_folders_of_pictures_called_like_topics_become_a_study(tmp_path):
    """With the file of each system that names them, beside its folder."""
    write_pictures(tmp_path)
    result = new(tmp_path)
    assert result.exit_code == 0, result.output
    assert f"wrote {tmp_path / 'picbeta.jsonl'}: each picture's topic" in result.output
    (task,) = written(tmp_path).tasks
    assert list(task.entry.systems) == [*SYSTEMS]
    assert (tmp_path / "picbeta.jsonl").read_text().splitlines() == [
        '{"topic": "PT-1", "image": "picbeta/PT-1.png"}',
        '{"topic": "PT-2", "image": "picbeta/PT-2.png"}',
    ]
    assert len(task.sides) == 5


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("picbeta.jsonl", "picbeta.jsonl is there already"),
        ("picbeta/readme.txt", "other files stand beside them"),
        ("picbeta/PT-1.copy.png", "PT-1.copy.png is called like no topic"),
        ("picbeta/PT-1.webp", "two are called like topic PT-1"),
    ],
)
def test_a_folder_whose_names_do_not_tell_the_topics_is_left_to_a_person(tmp_path, name, said):
    """And no file of anybody's is written over."""
    write_pictures(tmp_path)
    is_picture = name.endswith(("png", "webp"))
    (tmp_path / name).write_bytes(file_of(drawn()) if is_picture else b"my own notes, of nothing else\n")
    result = new(tmp_path)
    assert result.exit_code == 0, result.output
    assert f"pictures that no file names, and {said}" in result.output
    assert list(written(tmp_path).tasks[0].entry.systems) == ["picalpha", "picgamma"]
    if not is_picture:
        assert (tmp_path / name).read_text() == "my own notes, of nothing else\n"


def test_pictures_without_topics_say_what_is_missing(tmp_path):
    """Nobody can guess what was asked for."""
    write_pictures(tmp_path)
    (tmp_path / "topics.tsv").unlink()
    assert "that no file names, and there is no file of topics, lines `topic TAB" in fault(tmp_path)


def test_a_fault_of_a_picture_leaves_no_file_that_names_it(tmp_path):
    """Nor a study."""
    write_pictures(tmp_path)
    (tmp_path / "picbeta" / "PT-2.png").write_bytes(file_of(drawn())[:200])
    assert "picbeta/PT-2.png: the picture is damaged, or cut off" in fault(tmp_path)
    assert not [*tmp_path.glob("*.jsonl"), *tmp_path.glob("study.yaml")]


def test_pictures_that_no_file_names_are_told_by_their_first_bytes(tmp_path):
    """A line a folder, with the line that would name one of them, whatever its name ends with."""
    write_pictures(tmp_path)
    for path in tmp_path.glob("*/PT-1.png"):
        path.rename(path.with_name("A-1.png"))
    (tmp_path / "picalpha" / "A-1.png").rename(tmp_path / "picalpha" / "A-1.dat")
    found = fault(tmp_path)
    assert "nothing of a collection among 6 files" in found
    assert (
        f"{tmp_path}/picalpha:1: not used: 2 pictures that no file names, and A-1.dat is called like no topic; with one folder a system "
        "and names like TOPIC.png such a file is written for you; a file beside this folder would name one with "
        '{"topic": "A-1", "image": "picalpha/A-1.dat", "alt": "..."}'
    ) in found
    assert len(found.splitlines()) == 5


def test_a_fault_of_a_picture_leaves_no_study_behind(tmp_path):
    """With the line of the file that names it."""
    write_picture_study(tmp_path, files={"picbeta/PT-2.png": b"GIF89a"}).unlink()
    assert "picbeta.jsonl:2: picbeta/PT-2.png: the file is a GIF" in fault(tmp_path)
    assert not (tmp_path / "study.yaml").exists()


def test_a_path_that_no_file_can_have_is_a_fault_and_no_trace(tmp_path):
    """With the line of the file that writes it."""
    write_picture_study(tmp_path, lines={"picbeta": [{"topic": "PT-1", "image": "nul\0.png"}]}).unlink()
    assert "picbeta.jsonl:1: nul\\x00.png: there is no such file" in fault(tmp_path)
