"""Joined tables: one study of two waves, who is who, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibration.agree.agree_tables import agree
from calibration.agree.score_sources import ScoreSources
from calibration.join.join import join_tables
from calibration.rank.ranking import rank_systems
from calibration.simulate import SimulatedStudy, simulate_study
from calibration.tables.files import read_tables, write_tables
from calibration.tables.study_json import StudyRecord, TaskRecord, read_study, table_records, write_study
from calibration.tables.suspicions import suspicions, suspicions_in_short
from metrics.errors import InputError

SYSTEMS = ("a", "b", "c")
WORTHS = {"a": 0.8, "b": 0.0, "c": -0.5}
KEY, OTHER_KEY = "0" * 16, "1" * 16
FILE = {"path": "run.tsv", "sha256": "b" * 64}


@pytest.fixture(scope="module")
def crowd():
    """Votes of 12 people on 8 topics, each with tastes of their own, a ninth of them on repeats."""
    rng = np.random.default_rng(3)
    rows = []
    for worker in (f"w{number}" for number in rng.permutation(12)):
        taste = dict(zip(SYSTEMS, 0.4 * rng.normal(size=3), strict=True))
        for number, (topic, first, second) in enumerate(
            (f"t{topic}", *rng.permutation(SYSTEMS)[:2]) for topic in range(8) for _ in range(2)
        ):
            utility = WORTHS[first] + taste[first] - WORTHS[second] - taste[second] + rng.logistic()
            choice = "left" if utility > 0.3 else "right" if utility < -0.3 else "equally_good"
            pair = f"{topic}:{min(first, second)}~{max(first, second)}"
            seconds = round(float(rng.gamma(3, 5)), 3)
            rows.append((f"{worker}.{number}", worker, "pairs", topic, pair, first, second, choice, seconds))
    columns = ["judgment", "worker", "task", "topic", "pair", "system_left", "system_right", "choice"]
    frame = pd.DataFrame(rows, columns=[*columns, "decision_seconds"])
    return frame.sort_values("worker", kind="stable", ignore_index=True)


def record(name: str, task: dict | None = None, **changes) -> StudyRecord:
    """Return study.json of a served study with shared pseudonyms."""
    about = {"kind": "answer_pairs", "language": "en", "systems": dict.fromkeys(SYSTEMS, FILE)} | (task or {})
    tasks = {"pairs": TaskRecord.model_validate(about)}
    whole = {"study": name, "study_sha256": "a" * 64, "pseudonyms": KEY, "tasks": tasks} | changes
    return StudyRecord.model_validate(whole)


def folder(place: Path, tables, about: StudyRecord | None) -> Path:
    """Write tables and study.json."""
    write_tables(tables, place)
    if about is not None:
        rows = {name: len(frame) for name, frame in tables.items()}
        write_study(about.model_copy(update={"tables": table_records(place, rows)}), place)
    return place


@pytest.fixture
def waves(tmp_path, crowd):
    """Return a function that writes the crowd's topics 0 to 4 and 5 to 7 as two studies, with other tables and records."""

    def of(*, more=({}, {}), records=({}, {}), known=(True, True)):
        first = crowd["topic"] < "t5"
        return [
            folder(
                tmp_path / name,
                {"preferences": crowd[rows].copy()} | tables,
                record(name, **changes) if has_record else None,
            )
            for name, rows, tables, changes, has_record in zip(
                ("wave1", "wave2"), (first, ~first), more, records, known, strict=True
            )
        ]

    return of


def workers(**columns) -> dict[str, pd.DataFrame]:
    return {"workers": pd.DataFrame(columns)}


def refused(folders, place, **options) -> list[str]:
    """Return the faults of a join that is refused; nothing is written."""
    with pytest.raises(InputError) as error:
        join_tables(folders, place, **options)
    assert not place.exists()
    assert not [path for path in place.parent.iterdir() if path.name.startswith(".")]
    return [str(fault) for fault in error.value.faults]


def estimates(tables, about):
    """Return every number that rank and agree give of tables."""
    rng = np.random.default_rng(1)
    scores = pd.DataFrame(
        [
            (f"t{topic}", system, measure, rng.normal() + WORTHS[system])
            for topic in range(8)
            for system in SYSTEMS
            for measure in ("m1", "m2")
        ],
        columns=["topic", "run", "metric", "value"],
    )
    ranking = rank_systems(tables, study=about)
    sources = ScoreSources(tables=tables, scores=scores, study=about)
    found = agree(sources)
    return (ranking.ranking, ranking.duels, found.agreement, found.comparisons, found.pairs)


def test_two_waves_of_one_crowd_give_the_numbers_of_one_study(tmp_path, crowd, waves):
    """To the last digit of every estimate and interval, where the topics were split and pseudonyms are shared."""
    people = pd.DataFrame({"worker": sorted(crowd["worker"].unique()), "excluded": [False] * 11 + [True]})
    whole = folder(tmp_path / "whole", {"preferences": crowd, "workers": people}, record("whole"))

    joined = join_tables(waves(more=[{"workers": people}] * 2), tmp_path / "joined")

    about = read_study(tmp_path / "joined")
    assert (about.in_several, about.may_stand_twice, about.pseudonyms) == (12, 0, KEY)
    assert joined.notes == ()
    assert about.drew_sides("pairs")
    for one, other in zip(
        estimates(read_tables(whole), read_study(whole)),
        estimates(read_tables(tmp_path / "joined"), about),
        strict=True,
    ):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_tables_of_people_of_two_servers_are_those_of_one(tmp_path):
    """Every kind of table, split by people into three folders, one of them Parquet alone, comes back byte for byte."""
    whole = {
        name: rows.sort_values("worker", kind="stable", ignore_index=True) if "worker" in rows else rows
        for name, rows in simulate_study(
            SimulatedStudy(workers=9, topics=4, items=4), np.random.default_rng(5)
        ).items()
    }
    write_tables(whole, tmp_path / "whole")
    names = sorted(whole["workers"]["worker"])
    for number in range(3):
        own = {
            name: rows[rows["worker"].isin(names[number::3])].reset_index(drop=True)
            if "worker" in rows
            else rows
            for name, rows in whole.items()
        }
        write_tables(own, tmp_path / f"server{number}", parquet=number == 2)
    for path in (tmp_path / "server2").glob("*.csv"):
        path.unlink()

    joined = join_tables([tmp_path / f"server{number}" for number in range(3)], tmp_path / "joined")

    assert (joined.record.in_several, joined.record.may_stand_twice) == (0, 3)
    for name in whole:
        written = [(tmp_path / place / f"{name}.csv").read_bytes() for place in ("whole", "joined")]
        assert written[0] == written[1], name


def test_a_joined_folder_is_joined_again_by_the_same_key(tmp_path, crowd, waves):
    """People are still recognised; how many stand in several studies is then not told."""
    first, second = waves()
    more = folder(tmp_path / "third", {"preferences": crowd[:6].assign(topic="t9")}, record("wave3"))
    join_tables([first, second], tmp_path / "two")

    three = join_tables([tmp_path / "two", more], tmp_path / "three")

    assert (three.record.pseudonyms, three.record.may_stand_twice, three.record.in_several) == (KEY, 0, 0)
    assert [part.study for part in three.record.joined] == ["wave1", "wave2", "wave3"]
    assert read_tables(tmp_path / "three")["preferences"]["worker"].nunique() == 12
    assert any(note.startswith("how many people took part") for note in three.notes)


def test_without_a_shared_key_it_is_said_that_people_may_stand_twice(tmp_path, crowd, waves):
    """In study.json, by every command that reads the tables, and what it does to intervals."""
    folders = waves(records=({"pseudonyms": None}, {"pseudonyms": None}))
    later = crowd[crowd["topic"] >= "t5"]
    names = later.assign(worker="x" + later["worker"], judgment="x" + later["judgment"])
    folder(folders[1], {"preferences": names}, record("wave2", pseudonyms=None))

    join_tables(folders, tmp_path / "joined")

    about = read_study(tmp_path / "joined")
    assert (about.in_several, about.may_stand_twice) == (0, 2)
    assert "can be 1.4 times too narrow, more with few people" in about.people_twice
    tables = read_tables(tmp_path / "joined")
    assert tables["preferences"]["worker"].nunique() == 24
    for said in (suspicions(tmp_path / "joined", tables), suspicions_in_short(tmp_path / "joined", tables)):
        assert sum("people_may_stand_twice" in str(line) for line in said) == 1
    third = folder(tmp_path / "third", {"preferences": crowd[:4].assign(worker="y", judgment=None)}, None)
    again = join_tables([tmp_path / "joined", third], tmp_path / "all")
    assert [part.study for part in again.record.joined] == ["wave1", "wave2", "third"]
    assert again.record.may_stand_twice == 2
    assert any("third has no study.json" in note for note in again.notes)
    assert any("it is known that sides were drawn by lot" in note for note in again.notes)
    assert not again.record.drew_sides("pairs")


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        (({}, {"pseudonyms": OTHER_KEY}), "worker w0 and 11 more stands in"),
        (({}, {"pseudonyms": None, "study_sha256": None}), "nothing says whether that is the same person"),
        (({}, {"simulated": True}), "are simulated, and others are not"),
        (({}, {"task": {"kind": "ranked_pairs"}}), "task pairs has kind ranked_pairs, and answer_pairs in"),
        (({}, {"task": {"language": "ja"}}), "task pairs has language ja, and en in"),
        (({}, {"task": {"protocol": {"depth": 5}}}), "task pairs has depth 5, and None in"),
    ],
)
def test_studies_that_contradict_each_other_are_refused(tmp_path, waves, records, problem):
    """By one line with folder and cure each, and nothing is written."""
    faults = refused(waves(records=records), tmp_path / "joined")

    assert len(faults) == 1
    assert problem in faults[0]
    assert str(tmp_path) in faults[0]


def test_names_from_elsewhere_are_the_same_people_where_that_is_said(tmp_path, waves):
    """Or other people; and never with pseudonyms that were drawn."""
    folders = waves(known=(False, False))
    assert "say --workers same" in refused(folders, tmp_path / "joined")[0]

    same = join_tables(folders, tmp_path / "same", workers="same")
    different = join_tables(folders, tmp_path / "different", workers="different")

    assert (same.record.in_several, same.record.may_stand_twice) == (12, 0)
    assert (different.record.in_several, different.record.may_stand_twice) == (0, 2)
    names = read_tables(tmp_path / "different")["preferences"]["worker"]
    assert {"wave1/w0", "wave2/w0"} <= set(names)
    assert names.nunique() == 24
    drawn = waves(records=({"pseudonyms": None}, {"pseudonyms": None}))
    assert "were drawn at random" in refused(drawn, tmp_path / "joined", workers="same")[0]


def test_one_export_is_not_counted_twice(tmp_path, crowd, waves):
    """Not a folder named twice, a copy of it, nor an earlier export of the same study."""
    first, second = waves()
    copy = folder(tmp_path / "copy", read_tables(first), record("wave1"))
    later = folder(tmp_path / "later", {"preferences": crowd[crowd["topic"] < "t7"]}, record("wave1"))
    unlike = folder(
        tmp_path / "unlike", {"preferences": crowd[crowd["topic"] < "t7"]}, record("wave1", pseudonyms=None)
    )

    assert "named twice" in refused([first, second, first], tmp_path / "joined")[0]
    assert "same tables as" in refused([first, copy], tmp_path / "joined")[0]
    assert "word for word" in refused([first, later], tmp_path / "joined")[0]
    restored = crowd[crowd["topic"] < "t5"].reset_index(drop=True)
    restored.loc[3:, "decision_seconds"] += 1
    parted = folder(tmp_path / "parted", {"preferences": restored}, record("wave1"))
    assert "3 judgments (" in refused([first, parted], tmp_path / "joined")[0]
    for same in (None, "same", "different"):
        assert "word for word" in refused([first, unlike], tmp_path / "joined", workers=same)[0]
    assert "name two folders" in refused([first], tmp_path / "joined")[0]


def test_ids_and_pairs_of_two_folders_stay_apart(tmp_path, crowd):
    """The same id of another judgment gets the folder's name, everywhere; an id of two couples becomes topic/system/system."""
    rows = crowd[crowd["topic"] == "t0"].reset_index(drop=True)
    rows = rows.assign(judgment=[str(number) for number in rows.index], pair="p1", worker=None)[:2]
    other = rows.assign(topic="t9", system_left="c", system_right="a", decision_seconds=1.0)
    reads = pd.DataFrame(
        {
            "worker": ["v"],
            "topic": "t0",
            "system": "a",
            "page": "1",
            "judgment": "0",
            "item": "i",
            "kind": "iunit",
            "words": 3,
            "dwell_seconds": 1.0,
        }
    )
    other.loc[1, "validation_of"] = "0"
    repeat = {"preferences": other, "reads": reads.assign(worker="u")}
    first = folder(tmp_path / "one", {"preferences": rows, "reads": reads}, None)

    join_tables([first, folder(tmp_path / "two", repeat, None)], tmp_path / "joined")

    tables = read_tables(tmp_path / "joined")
    assert list(tables["preferences"]["judgment"]) == ["one/0", "one/1", "two/0", "two/1"]
    assert tables["preferences"]["validation_of"].dropna().tolist() == ["two/0"]
    assert set(tables["reads"]["judgment"]) == {"one/0", "two/0"}
    assert set(tables["reads"]["page"]) == {"one/1", "two/1"}
    assert tables["preferences"]["pair"].tolist()[2:] == ["t9/a/c", "t9/a/c"]


def test_one_row_a_person_and_what_is_so_in_one_study_only(tmp_path, waves):
    """Excluded or withdrawn in one is so in all, and nothing of who withdrew is written; means weigh by their rows."""
    more = [
        workers(
            worker=["w0", "w1", "w2"],
            excluded=[False, True, False],
            reason=[None, "rule 2: search", None],
            mean_search_seconds=[100.0, None, 50.0],
            completed_at=pd.to_datetime(["2026-03-01T10:00Z"] * 3),
            withdrawn_at=pd.to_datetime([None, None, "2026-03-01T12:00Z"], utc=True),
            ended_as=["complete", "complete", "withdrawn"],
        )
        | {"searches": pd.DataFrame({"worker": ["w0"], "topic": "t0", "seconds": [100.0]})},
        workers(
            worker=["w0", "w1", "w2"],
            excluded=[False] * 3,
            mean_search_seconds=[190.0, 10.0, 60.0],
            completed_at=pd.to_datetime(["2026-04-01T10:00Z", None, "2026-04-01T10:00Z"], utc=True),
            ended_as=["complete", "partial", "complete"],
        )
        | {"searches": pd.DataFrame({"worker": ["w0", "w0"], "topic": "t5", "seconds": [190.0, 190.0]})},
    ]

    joined = join_tables(waves(more=more), tmp_path / "joined")

    tables = read_tables(tmp_path / "joined")
    rows = tables["workers"].set_index("worker")
    assert rows["excluded"].astype(object).where(rows["excluded"].notna(), None).tolist() == [
        False,
        True,
        None,
    ]
    assert rows["reason"].tolist()[1] == "wave1: rule 2: search"
    assert rows.loc["w0", "mean_search_seconds"] == pytest.approx(160)
    assert rows["mean_search_seconds"].isna().tolist() == [False, True, True]
    assert rows["ended_as"].tolist() == ["complete", "partial", "withdrawn"]
    assert rows["completed_at"].notna().tolist() == [True, False, False]
    assert str(rows.loc["w0", "completed_at"]) == "2026-04-01 10:00:00+00:00"
    assert "w2" not in set(tables["preferences"]["worker"])
    assert "1 person (w1) is excluded in one study and not in another: excluded in all" in joined.notes
    assert any(note.startswith("1 person (w2) is withdrawn from one study") for note in joined.notes)


STREAM = {"worker": "w0", "topic": "e1", "system": "a"}
DAY = {"started_at": "2026-03-01T10:00Z", "ended_at": "2026-03-02T10:00Z"}


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("follows", [STREAM | DAY]),
        ("intent_votes", [{"worker": "w0", "topic": "t1", "intent": "i1"}]),
        ("importance", [{"worker": "w0", "topic": "t1", "intent": "i1", "iunit": "u", "rating": 2.0}]),
    ],
)
def test_what_a_person_did_twice_with_a_topic_is_refused_or_kept_once(tmp_path, waves, table, rows):
    """Follows, votes on intents and ratings stand once; --keep-first keeps those of the first folder."""
    frame = pd.DataFrame(rows)
    another = frame.assign(system="b") if table == "follows" else frame.assign(intent="i2")
    folders = waves(more=({table: frame}, {table: pd.concat([another, another.assign(worker="w9")])}))

    faults = refused(folders, tmp_path / "joined")
    joined = join_tables(folders, tmp_path / "joined", keep_first=True)

    assert len(faults) == 1
    assert f"of worker w0 in table {table} is in" in faults[0]
    left = read_tables(tmp_path / "joined")[table]
    assert left["worker"].tolist() == ["w0", "w9"]
    column = "system" if table == "follows" else "intent"
    assert left[column].tolist() == [frame[column][0], another[column][0]]
    assert any("left out of" in note for note in joined.notes)


def test_visits_that_were_cut_otherwise_are_no_one_table(tmp_path, waves):
    """By another silence, or on another clock."""
    more = tuple({"follows": pd.DataFrame([STREAM | DAY | {"topic": topic}])} for topic in ("e1", "e2"))
    unlike = ({"idle_seconds": 300}, {"idle_seconds": 600, "clock": {"factor": 4}})

    faults = refused(waves(more=more, records=unlike), tmp_path / "joined")

    assert [name in fault for name, fault in zip(("clock.factor", "idle_seconds"), faults, strict=True)] == [
        True
    ] * 2
    (tmp_path / "wave2" / "follows.csv").unlink()
    joined = join_tables(waves(more=(more[0], {}), records=unlike), tmp_path / "joined")
    assert (joined.record.idle_seconds, joined.record.clock.factor) == (300, 1)


def test_topics_and_systems_of_one_name_are_compared_where_both_studies_have_them(tmp_path, crowd, waves):
    """Other topics need other files, of which agree then asks for one; the same topic with another text or run is refused."""
    other_run = {"systems": dict.fromkeys(SYSTEMS, FILE | {"sha256": "c" * 64})}
    texts = {"topics": {"t1": "1" * 16}}, {"topics": {"t1": "2" * 16}}
    joined = join_tables(waves(records=({}, {"task": other_run})), tmp_path / "apart")
    assert any("a, b, c are other files in each folder" in note for note in joined.notes)
    assert joined.record.tasks["pairs"].systems["a"].sha256 not in {"b" * 64, "c" * 64}
    first = waves()[0]
    later = crowd[crowd["topic"] < "t2"].assign(judgment=None, worker="z")

    for changed, problem in (
        (other_run, "system a, b, c is another file"),
        (texts[1], "topic t1 has another text"),
    ):
        folder(first, {"preferences": crowd[crowd["topic"] < "t5"]}, record("wave1", task=texts[0]))
        second = folder(tmp_path / "wave2", {"preferences": later}, record("wave2", task=changed))
        [fault] = refused([first, second], tmp_path / "joined")
        assert problem in fault
        assert "--same-content" in fault
        join_tables([first, second], tmp_path / f"same-{problem[0]}", same_content=True)


def test_rows_from_files_are_one_row_or_refused(tmp_path, waves):
    """The same intent in both is one; another probability of it is another collection."""
    intents = pd.DataFrame({"topic": "t1", "intent": ["i1", "i2"], "probability": [0.25, 0.75]})
    same = join_tables(waves(more=[{"intents": intents}] * 2), tmp_path / "same")
    assert same.rows["intents"] == 2
    unlike = {"intents": intents.assign(probability=[0.5, 0.5])}
    [fault] = refused(waves(more=({"intents": intents}, unlike)), tmp_path / "joined")
    assert "table intents differs from that of" in fault
    assert "topic t1, intent i1" in fault


def test_judges_are_one_judge_or_refused(tmp_path, crowd, waves):
    """By model and prompt; a name is never a person here and a judge there; a pair has a verdict once an order."""
    judge = workers(worker=["llm"], kind="model", model="m-1", prompt_sha256="d" * 64)
    verdict = crowd[:1].assign(worker="llm", judgment="v", order=1)
    both = waves(more=[judge] * 2)
    for place, first in zip(both, (True, False), strict=True):
        own = crowd[(crowd["topic"] < "t5") == first]
        tables = {"preferences": pd.concat([own, verdict.assign(judgment=f"v{first}")]), **judge}
        folder(place, tables, record(place.name))
    [fault] = refused(both, tmp_path / "joined")
    assert "1 verdict of judge llm are about pairs that an earlier folder has verdicts about" in fault
    joined = join_tables(both, tmp_path / "joined", keep_first=True)
    assert (joined.record.in_several, joined.rows["preferences"]) == (12, len(crowd) + 1)
    another = waves(more=(judge, workers(worker=["llm"], kind="model", model="m-2")))
    [fault] = refused(another, tmp_path / "other")
    assert "judge llm is model m-2 with prompt unknown, and model m-1 with prompt dddddddddddd" in fault
    person = waves(more=(judge, workers(worker=["llm"], excluded=False)))
    assert "worker llm is a person here, and a judge" in refused(person, tmp_path / "other")[0]


def test_who_judged_is_known_everywhere_or_nowhere(tmp_path, crowd, waves):
    """Half a column of workers is refused; without any, nothing is said of people."""
    first, second = waves()
    nobody = crowd[crowd["topic"] >= "t5"].drop(columns="worker").reset_index(drop=True)
    folder(second, {"preferences": nobody}, record("wave2"))
    assert "does not say who judged" in refused([first, second], tmp_path / "joined")[0]
    folder(
        first,
        {"preferences": crowd[crowd["topic"] < "t5"].drop(columns="worker")},
        record("wave1", pseudonyms=None),
    )
    joined = join_tables([first, second], tmp_path / "joined")
    assert (joined.record.may_stand_twice, joined.record.people_twice) == (0, None)
    assert joined.rows["preferences"] == len(crowd)


def test_the_output_is_new_or_a_join(tmp_path, waves):
    """Never one of the folders, nor tables of a study; a second join replaces the first, and a cut table stops it before."""
    folders = waves()
    for place in (folders[0], folders[0] / "joined"):
        with pytest.raises(InputError, match="one of the folders to join, or in it"):
            join_tables(folders, place)
    third = folder(
        tmp_path / "third", {"preferences": read_tables(folders[0])["preferences"]}, record("third")
    )
    with pytest.raises(InputError, match="this folder holds the tables of study third, which no join wrote"):
        join_tables(folders, third)
    for _ in range(2):
        join_tables(folders, tmp_path / "joined")
    (folders[1] / "preferences.csv").write_text(
        "\n".join((folders[1] / "preferences.csv").read_text().splitlines()[:-3]) + "\n"
    )
    with pytest.raises(InputError, match="the table is cut"):
        join_tables(folders, tmp_path / "joined")
    assert len(read_tables(tmp_path / "joined")["preferences"]) > 0


def test_what_the_studies_differ_in_is_said(tmp_path, waves):
    """Keys of the protocol are left out of study.json; times are exact where any are; consent texts of all are there."""
    records = (
        {
            "results_opened": [{"at": "2026-03-09T00:00Z", "judgments": 9}],
            "times": "moved",
            "task": {"protocol": {"seed": 1, "pairs_per_worker": 5, "pairs": "all"}},
        },
        {
            "times": "exact",
            "task": {"protocol": {"seed": 1, "pairs_per_worker": 9, "pairs": "pairs.tsv"}},
            "results_opened": [{"at": "2026-03-05T00:00Z", "judgments": 7}],
        },
    )
    folders = waves(
        more=({"searches": pd.DataFrame({"worker": ["w0"], "topic": "t0", "seconds": [1.0]})}, {}),
        records=records,
    )
    (folders[0] / "consent").mkdir()
    (folders[0] / "consent" / f"{'e' * 64}.txt").write_text("yes")
    (folders[0] / "consent" / "notes.txt").write_text("no")
    (folders[1] / "raw").mkdir()
    (folders[1] / "raw" / "events.csv").write_text("as stored")

    joined = join_tables(folders, tmp_path / "joined", parquet=True)

    assert joined.record.times == "exact"
    assert [look.judgments for look in joined.record.results_opened] == [7, 9]
    assert joined.record.tasks["pairs"].protocol == {"seed": 1, "pairs": "pairs.tsv"}
    assert joined.record.pairs_file("pairs") == "pairs.tsv"
    assert (
        "task pairs: pairs_per_worker differs between the studies, and study.json leaves it out"
        in joined.notes
    )
    assert "times of some folders are exact: with the platform's list they identify workers" in joined.notes
    assert any("wave2 has no searches" in note for note in joined.notes)
    assert any(
        f"not joined, since nothing is computed from what was stored: {folders[1] / 'raw'}" in note
        for note in joined.notes
    )
    written = {
        path.relative_to(tmp_path / "joined").as_posix() for path in (tmp_path / "joined").rglob("*.*")
    }
    assert written == {
        *(f"{name}.{suffix}" for name in ("preferences", "searches") for suffix in ("csv", "parquet")),
        "study.json",
        f"consent/{'e' * 64}.txt",
    }
    content = json.loads((tmp_path / "joined" / "study.json").read_text())
    assert [part["study"] for part in content["joined"]] == ["wave1", "wave2"]
    said = suspicions(tmp_path / "joined", read_tables(tmp_path / "joined"))
    assert [fault.path for fault in said if "judged before" not in fault.problem] == []
