"""`prefcal export` and `prefcal features`: what they print, write and refuse."""

import pandas as pd
import pytest
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from calibration.tables.files import read_tables, write_tables
from study_app.cli import main
from study_app.estimate.content import read_whole_study
from study_app.services.researcher.load import load_study
from study_app.store.simulated_workers import record_simulated
from tests.study_app.made_once import ready_database
from tests.study_app.stored_study import LATER, LOADED, STUDY, opened, sees, write_study
from tests.study_app.stored_study import StoredStudy as Stored


@pytest.fixture
def prefcal(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder; return exit code, stdout and stderr."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.delenv("PREFCAL_DATABASE_URL", raising=False)

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["prefcal", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        out = capsys.readouterr()
        return exit_.value.code or 0, out.out, out.err

    return run


@pytest.fixture
def database(tmp_path, new_url):
    """A database with one study that somebody took part in; its address."""
    url = new_url(tmp_path)
    ready_database(url).engine.dispose()
    stored = Stored(tmp_path / "study", url=url)
    worker = stored.worker("ann", completed_at=LATER)
    slot = stored.slot(worker)
    first = stored.showing(slot, "good", "flat")
    stored.judge(first, "equally_good", page_key="p1")
    stored.judge(stored.showing(slot, "flat", "good", repeats=first), "equally_bad")
    stored.page(
        worker, first, "p1", (0, "open", opened()), (0, "see", sees("left", "f0", 1)), (9, "close"), lost={1}
    )
    stored.worker("bob", withdrawn_at=LATER)
    stored.close()
    return url


def load_another(url, folder):
    """Load a second study."""
    folder.mkdir()
    path = write_study(folder, STUDY.replace("study: fuji", "study: tea"))
    engine = create_engine(url)
    with Session(engine) as session, session.begin():
        load_study(session, read_whole_study(path), now=LOADED)
    engine.dispose()


def test_export_writes_the_only_study_and_says_what_is_in_it(prefcal, database):
    """No name is needed; people read the summary, programs the tables."""
    code, out, err = prefcal("export", "tables", "--database", database)

    assert code == 0
    assert "Traceback" not in err
    assert out.splitlines()[0].startswith("exported fuji to ")
    assert out.splitlines()[1:] == [
        "rows: workers 2, intents 3, intent_votes 0, preferences 2, searches 1, positions 10, reads 1, stops 2",
        "workers who consented: 2 (finished: 1, did not: 0, withdrew: 1); excluded by rule 2: 0",
        "validation pairs answered: 1; consistent: 100 %; the very same option: 0 %",
        "pages that logged: 1; with gaps: 1 (events missing: 1); with a log that stops early: 0; answers without a log: 1",
    ]


def test_the_folder_may_be_named_as_in_every_other_command(prefcal, database, tmp_path):
    """`-o DIR` is `DIR`; both, or neither, is wrong usage."""
    code, out, _ = prefcal("export", "-o", "tables", "--database", database)
    wrong = [prefcal("export", *words, "--database", database) for words in ((), ("a", "-o", "b"))]

    assert code == 0
    assert out.startswith("exported fuji to ")
    assert (tmp_path / "here" / "tables" / "preferences.csv").is_file()
    assert [code for code, *_ in wrong] == [2, 2]
    assert all("name one folder to write: prefcal export DIR, or -o DIR" in err for *_, err in wrong)


def test_what_was_exported_passes_the_check_of_tables(prefcal, database, tmp_path):
    """Whatever the database holds, the next stage can read it."""
    prefcal("export", "tables", "--database", database, "--raw")

    tables = read_tables(tmp_path / "here" / "tables")

    assert len(tables["preferences"]) == 2
    assert (tmp_path / "here" / "tables" / "raw" / "page_gaps.csv").is_file()


def test_of_several_studies_one_must_be_named(prefcal, database, tmp_path):
    """The fault lists them, and a name that is nearly right is recognised."""
    load_another(database, tmp_path / "another")

    assert prefcal("export", "a", "--database", database)[2].splitlines()[-1] == (
        "2 studies are loaded; name one with --study: fuji, tea"
    )
    code, out, err = prefcal("export", "a", "--database", database, "--study", "fuij")
    assert (code, out, err.splitlines()[-1]) == (1, "", "unknown study 'fuij'; did you mean 'fuji'?")
    assert prefcal("export", "a", "--database", database, "--study", "tea")[0] == 0


def test_the_name_of_a_study_is_not_taken_for_a_folder(prefcal, database, tmp_path):
    """Most commands take a study; who writes it here too is told how it goes."""
    code, out, err = prefcal("export", "fuji", "--database", database)

    assert (code, out) == (1, "")
    assert "name the folder, as in: prefcal export tables --study fuji" in err
    assert not (tmp_path / "here" / "fuji").exists()
    assert prefcal("export", "fuji", "--study", "fuji", "--database", database)[0] == 0
    assert prefcal("export", "fuji", "--database", database)[0] == 0


def test_the_state_of_one_study_can_be_asked_for(prefcal, database, tmp_path):
    """Without a name all are told of."""
    load_another(database, tmp_path / "another")

    both, one = (prefcal("status", *name, "--database", database)[1] for name in ([], ["tea"]))
    assert "fuji:" in both
    assert "tea:" in both
    assert "fuji:" not in one
    assert "tea:" in one
    assert "unknown study 'coffee'" in prefcal("status", "coffee", "--database", database)[2]


def test_a_folder_with_other_things_is_refused_in_one_line(prefcal, database, tmp_path):
    """Exit 1, nothing on stdout, nothing touched."""
    (tmp_path / "here" / "tables").mkdir()
    (tmp_path / "here" / "tables" / "notes.txt").write_text("mine")

    code, out, err = prefcal("export", "tables", "--database", database)

    assert (code, out) == (1, "")
    assert err.splitlines()[-1].endswith(
        "the folder holds files that no export wrote: notes.txt; name another folder, or move these away"
    )
    assert [path.name for path in (tmp_path / "here" / "tables").iterdir()] == ["notes.txt"]


def test_a_rehearsal_does_not_replace_the_tables_of_real_workers(prefcal, database, tmp_path, new_url):
    """Their answers are money and time; simulated ones can be had again."""
    (tmp_path / "rehearsal").mkdir()
    rehearsal = new_url(tmp_path / "rehearsal")
    ready_database(rehearsal).engine.dispose()
    stored = Stored(tmp_path / "rehearsed", url=rehearsal)
    stored.worker("cleo", completed_at=LATER)
    record_simulated(stored.session, stored.study.id)
    stored.close()
    real, simulated = ("--database", database), ("--database", rehearsal)
    assert prefcal("export", "tables", *real)[0] == 0
    before = (tmp_path / "here" / "tables" / "workers.csv").read_bytes()

    code, out, err = prefcal("export", "tables", *simulated)

    assert (code, out) == (1, "")
    assert "the tables of real workers of fuji, and those of this database are simulated" in err
    assert "name another folder, or replace them with --replace-real" in err
    assert (tmp_path / "here" / "tables" / "workers.csv").read_bytes() == before
    assert prefcal("export", "tables", "--replace-real", *simulated)[0] == 0
    assert prefcal("export", "tables", *simulated)[0] == 0
    assert prefcal("export", "tables", *real)[0] == 0


def test_a_database_without_a_study_says_how_to_get_one(prefcal):
    """The default database of an empty folder."""
    code, out, err = prefcal("export", "tables")

    assert (code, out) == (1, "")
    assert "prefcal study load FILE" in err
    assert "Traceback" not in err


def test_features_join_tables_from_elsewhere(prefcal, tmp_path):
    """Somebody with preferences of their own adds positions and intents; the preferences stay as they are."""
    study = write_study(tmp_path)
    mine = pd.DataFrame({"worker": ["ann"], "topic": ["MC-1"], "seconds": [240.0]})
    write_tables({"searches": mine}, "tables")
    before = (tmp_path / "here" / "tables" / "searches.csv").read_bytes()

    code, out, _ = prefcal("features", study, "-o", "tables")

    tables = read_tables("tables")
    assert (code, out) == (0, "intents: 3 rows\npositions: 10 rows\n")
    assert set(tables) == {"searches", "intents", "positions"}
    assert set(tables["positions"]["task"]) == {"pairs"}
    assert (tmp_path / "here" / "tables" / "searches.csv").read_bytes() == before


def test_features_equal_what_an_export_writes(prefcal, database, tmp_path):
    """A study served here and one served elsewhere are analysed alike."""
    prefcal("features", tmp_path / "study" / "study.yaml", "-o", "features")
    prefcal("export", "tables", "--database", database)

    for name in ("positions.csv", "intents.csv"):
        here = tmp_path / "here"
        assert (here / "features" / name).read_bytes() == (here / "tables" / name).read_bytes()


def changes_said(out):
    """Return the warnings but that of reading times, which nobody has who is made up here."""
    return [line for line in out.splitlines() if line.startswith("warning") and "dwell_seconds" not in line]


def test_features_written_anew_are_no_changed_tables(prefcal, database, tmp_path):
    """One drops a system from the study file; study.json then knows the shorter tables."""
    prefcal("export", "tables", "--database", database)
    study = tmp_path / "study" / "study.yaml"
    study.write_text(study.read_text().replace(", flat: flat.xml", ""))
    written = prefcal("features", study, "-o", "tables")
    checked = prefcal("check", "tables")

    assert written[1] == "intents: 3 rows\npositions: 7 rows\n"
    assert checked[0] == 0
    assert not changes_said(checked[1])


def test_an_export_that_was_cut_on_its_way_is_seen_by_check(prefcal, database, tmp_path):
    """At a line end and inside the last number; as it was written there is nothing to say."""
    prefcal("export", "tables", "--database", database)
    assert not changes_said(prefcal("check", "tables")[1])

    path = tmp_path / "here" / "tables" / "positions.csv"
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    code, out, err = prefcal("check", "tables")
    assert (code, out) == (1, "")
    assert err.startswith(
        "tables/positions.csv:10: the table is cut: it has 9 rows, and 10 were exported; export"
    )

    path.write_bytes(whole[:-2])
    code, out, err = prefcal("check", "tables")
    assert (code, out) == (1, "")
    assert err.startswith("tables/positions.csv:11: the table ends inside a line:")


def test_features_without_importance_say_what_they_cannot_write(prefcal, tmp_path):
    """Positions need gains; intents do not."""
    study = write_study(tmp_path, STUDY.replace("      importance: importance.tsv\n", ""))

    code, out, err = prefcal("features", study, "-o", "tables")

    assert (code, out) == (0, "intents: 3 rows\n")
    assert err == "positions: not written; they need systems and importance in FILE\n"


def test_faults_of_a_study_file_come_with_their_lines(prefcal, tmp_path):
    """Nothing is half-written."""
    study = write_study(tmp_path, STUDY.replace("good: good.xml", "good: lost.xml"))

    code, out, err = prefcal("features", study, "-o", "tables")

    assert (code, out) == (1, "")
    assert err.startswith(f"{study}:")
    assert "lost.xml" in err
    assert not (tmp_path / "here" / "tables").exists()


def test_tables_of_another_study_are_not_replaced(prefcal, database, tmp_path):
    """Two studies in turn would leave those of the last one only."""
    assert prefcal("export", "tables", "--database", database)[0] == 0
    load_another(database, tmp_path / "tea")
    before = read_tables("tables")["preferences"]
    code, _, said = prefcal("export", "tables", "--study", "tea", "--database", database)

    assert code == 1
    assert "tables:1: this folder has the tables of study fuji, and not of tea; name another folder" in said
    assert read_tables("tables")["preferences"].equals(before)
    assert prefcal("export", "tables", "--study", "fuji", "--database", database)[0] == 0
